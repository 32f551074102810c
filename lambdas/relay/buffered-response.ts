import type { ApiResult } from '#middleware/api-event.ts'
import type { ClientResponse, ResponseHead, ResponseHeaders } from './client-response.ts'

/** Lambda does not tell a buffered function that its client has left. */
const NEVER_GONE = new AbortController().signal

/** Collects a response for a platform that takes it in one piece. */
export class BufferedResponse implements ClientResponse {
  readonly gone = NEVER_GONE
  readonly isBuffered = true
  readonly #responseHeaders: ResponseHeaders
  #head: ResponseHead | undefined
  readonly #chunks: Buffer[] = []

  constructor(responseHeaders: ResponseHeaders) {
    this.#responseHeaders = responseHeaders
  }

  get isOpen(): boolean {
    return this.#head !== undefined
  }

  get statusCode(): number | undefined {
    return this.#head?.statusCode
  }

  open({ statusCode, headers }: ResponseHead): void {
    this.#head = { statusCode, headers: this.#responseHeaders.complete(headers) }
  }

  write(chunk: Buffer | string): boolean {
    this.#chunks.push(Buffer.from(chunk))
    return true
  }

  async drained(): Promise<void> {
    // There is always room.
  }

  end(): void {
    // The response goes out when the handler returns.
  }

  /** The response for API Gateway, which sets the length. */
  result(): ApiResult {
    const { 'content-length': _, ...headers } = { ...this.#head?.headers }
    return { statusCode: this.#head?.statusCode ?? 500, headers, body: Buffer.concat(this.#chunks).toString('utf8') }
  }
}
