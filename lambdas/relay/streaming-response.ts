import { finished } from 'node:stream/promises'
import type { StreamifyHandler } from 'aws-lambda'
import { outliveStreamError } from '#lambdas/relay/outlive-stream-error.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import type { ClientResponse, ResponseHead, ResponseHeaders } from './client-response.ts'

/** Lambda's stream to the caller of a streaming function. */
export type LambdaResponseStream = awslambda.HttpResponseStream

/**
 * Lambda's own global for streaming functions (AWS Lambda developer guide, "Response streaming"). Absent without a Lambda
 * runtime, where libraries may still keep something of their own under this name.
 */
function lambdaGlobal(): Partial<typeof awslambda> {
  return globalThis.awslambda ?? {}
}

/** Marks a function as streaming. Returns it unchanged where there is no Lambda runtime, as in some emulators. */
export function streamifyResponse(handler: StreamifyHandler<ApiEvent>): StreamifyHandler<ApiEvent> {
  return lambdaGlobal().streamifyResponse?.(handler) ?? handler
}

/** A response that goes out byte by byte through Lambda's response stream. */
export class StreamingResponse implements ClientResponse {
  readonly #responseStream: LambdaResponseStream
  readonly #responseHeaders: ResponseHeaders
  readonly #gone = new AbortController()
  #stream: LambdaResponseStream | undefined
  #statusCode: number | undefined
  /** The event by which a stream says that it ends early. */
  #outOfTime: ResponseHead['outOfTime']

  constructor(responseStream: LambdaResponseStream, responseHeaders: ResponseHeaders) {
    this.#responseStream = responseStream
    this.#responseHeaders = responseHeaders
    // An error of the connection would end the process before the settlement. `close` follows the error.
    responseStream.on('error', outliveStreamError)
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

  open({ statusCode, headers, outOfTime }: ResponseHead): void {
    const { HttpResponseStream } = lambdaGlobal()
    if (HttpResponseStream === undefined) {
      throw new TypeError('a streaming function runs on a Lambda runtime only')
    }
    if (this.isOpen) {
      // The client has its response already: one that came too late for the front door, for example.
      return
    }
    this.#statusCode = statusCode
    if (this.#gone.signal.aborted) {
      return
    }
    this.#outOfTime = outOfTime
    this.#stream = HttpResponseStream.from(this.#responseStream, {
      statusCode,
      headers: this.#responseHeaders.complete(headers),
    })
    // Sends status and headers at once; glued to the first bytes of the body they may be held back with them.
    this.#stream.write('')
  }

  write(chunk: Buffer | string): boolean {
    return this.#stream === undefined || this.#gone.signal.aborted || this.#stream.write(chunk)
  }

  /** A client that reads slowly slows the upstream down; a client that leaves frees the upstream. */
  async drained(): Promise<void> {
    if (this.#stream?.writableNeedDrain && !this.#gone.signal.aborted) {
      await roomIn(this.#stream, this.#gone.signal)
    }
  }

  end(): void {
    this.#stream?.end()
  }

  /**
   * Stops sending: neither a client that reads too slowly nor an upstream that takes too long is waited for any longer. A
   * stream of events ends with an error, so that no client takes the part for the whole; JSON ends before it is complete.
   * The stream is never destroyed, because Lambda's runtime client then ends the process before the settlement.
   */
  giveUp(): void {
    if (this.#outOfTime !== undefined && !(this.#stream?.writableEnded || this.#gone.signal.aborted)) {
      this.#stream?.write(this.#outOfTime())
    }
    this.#gone.abort()
  }

  /** Resolves when the client has every byte, when it has left, or after {@link giveUp}. */
  async finished(): Promise<void> {
    // Ends a response that was never opened, which API Gateway turns into a 502, or was left without an end.
    this.#responseStream.end()
    const { writableFinished, destroyed } = this.#responseStream
    if (!(writableFinished || destroyed || this.#gone.signal.aborted)) {
      await finished(this.#responseStream, { readable: false, signal: this.#gone.signal }).catch(() => undefined)
    }
  }
}

/** Resolves when the stream has room, or when nothing more is sent. */
function roomIn(stream: LambdaResponseStream, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off('drain', settle)
      gone.removeEventListener('abort', settle)
      resolve()
    }
    stream.on('drain', settle)
    gone.addEventListener('abort', settle)
  })
}
