import { finished } from 'node:stream/promises'
import type { StreamifyHandler } from 'aws-lambda'
import type { AnswerHead, AnswerWriter } from '#adapters/relay/relay-request.ts'
import type { ApiEvent } from './api-event.ts'

/** What Lambda hands to a streaming function: bytes written to it go to the caller at once. */
export type LambdaResponseStream = awslambda.HttpResponseStream

/**
 * Lambda's own global for streaming functions (AWS Lambda developer guide, "Response streaming"). Absent without a Lambda
 * runtime, where libraries may still keep something of their own under this name.
 */
function lambdaGlobal(): Partial<typeof awslambda> {
  return globalThis.awslambda ?? {}
}

/** Marks a function as streaming. Where there is no Lambda runtime, as in some emulators, it is left as it is. */
export function streamifyResponse(handler: StreamifyHandler<ApiEvent>): StreamifyHandler<ApiEvent> {
  return lambdaGlobal().streamifyResponse?.(handler) ?? handler
}

/** An answer through Lambda's response stream. */
export class StreamedAnswer implements AnswerWriter {
  beforeOpen = (headers: AnswerHead['headers']): Record<string, string> => ({ ...headers })
  readonly #responseStream: LambdaResponseStream
  readonly #gone = new AbortController()
  #stream: LambdaResponseStream | undefined
  #statusCode: number | undefined

  constructor(responseStream: LambdaResponseStream) {
    this.#responseStream = responseStream
    // Without a listener an error of the connection would end the process. `close` follows it.
    responseStream.on('error', () => undefined)
    responseStream.on('close', () => {
      if (!responseStream.writableFinished) {
        this.#gone.abort()
      }
    })
  }

  get gone(): AbortSignal {
    return this.#gone.signal
  }

  get isOpen(): boolean {
    return this.#stream !== undefined
  }

  get statusCode(): number | undefined {
    return this.#statusCode
  }

  open({ statusCode, headers }: AnswerHead): void {
    const { HttpResponseStream } = lambdaGlobal()
    if (HttpResponseStream === undefined) {
      throw new TypeError('a streaming function runs on a Lambda runtime only')
    }
    this.#statusCode = statusCode
    this.#stream = HttpResponseStream.from(this.#responseStream, {
      statusCode,
      headers: this.beforeOpen(headers),
    })
    // Sends status and headers now; glued to the first bytes of the body they may be held back with it.
    this.#stream.write('')
  }

  write(chunk: Buffer | string): boolean {
    return this.#stream === undefined || this.#gone.signal.aborted || this.#stream.write(chunk)
  }

  /** A client that reads slowly slows the upstream down; one that leaves frees it. */
  async drained(): Promise<void> {
    if (this.#stream?.writableNeedDrain && !this.#gone.signal.aborted) {
      await roomIn(this.#stream)
    }
  }

  end(): void {
    this.#stream?.end()
  }

  /** Ends the answer unfinished: a client that reads too slowly, or an upstream that takes too long, is waited for no more. */
  giveUp(): void {
    this.#gone.abort()
    this.#responseStream.destroy()
  }

  /** Resolves when the client has every byte, or has left. */
  async finished(): Promise<void> {
    if (!this.isOpen) {
      // Nothing was said, which must never happen: API Gateway makes a 502 of it, and nobody waits.
      this.#responseStream.end()
    }
    if (!this.#responseStream.writableFinished && !this.#responseStream.destroyed) {
      await finished(this.#responseStream, { readable: false }).catch(() => undefined)
    }
  }
}

function roomIn(stream: LambdaResponseStream): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off('drain', settle)
      stream.off('close', settle)
      resolve()
    }
    stream.on('drain', settle)
    stream.on('close', settle)
  })
}
