import type { ApiResult } from '#middleware/api-event.ts'
import type { AnswerHead, AnswerWriter } from './relay-request.ts'

/** Nobody can leave before a buffered answer is sent: Lambda does not tell. */
const NEVER_GONE = new AbortController().signal

/** Collects an answer, for a function whose platform takes it in one piece. */
export class BufferedAnswer implements AnswerWriter {
  readonly gone = NEVER_GONE
  readonly isBuffered = true
  beforeOpen = (headers: AnswerHead['headers']): Record<string, string> => ({ ...headers })
  #head: AnswerHead | undefined
  readonly #chunks: Buffer[] = []

  get isOpen(): boolean {
    return this.#head !== undefined
  }

  get statusCode(): number | undefined {
    return this.#head?.statusCode
  }

  open({ statusCode, headers }: AnswerHead): void {
    this.#head = { statusCode, headers: this.beforeOpen(headers) }
  }

  write(chunk: Buffer | string): boolean {
    this.#chunks.push(Buffer.from(chunk))
    return true
  }

  async drained(): Promise<void> {
    // There is always room.
  }

  end(): void {
    // The answer goes out when the handler returns.
  }

  /** The answer for API Gateway. Its length is left to the platform. */
  result(): ApiResult {
    const { 'content-length': _, ...headers } = { ...this.#head?.headers }
    return { statusCode: this.#head?.statusCode ?? 500, headers, body: Buffer.concat(this.#chunks).toString('utf8') }
  }
}
