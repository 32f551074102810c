import { finished } from 'node:stream/promises'
import type { StreamifyHandler } from 'aws-lambda'
import { isEventStream } from '#core/relay/event-stream-type.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { outliveStreamError } from '#middleware/outlive-stream-error.ts'
import { OUT_OF_TIME } from './event-sender.ts'
import type { AnswerHead, AnswerWriter } from './relay-request.ts'

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
  /** Whether the answer is a stream of events, in which an event can say that it ends early. */
  #isEventStream = false

  constructor(responseStream: LambdaResponseStream) {
    this.#responseStream = responseStream
    // An error of the connection would end the process before the settlement. `close` follows it.
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

  open({ statusCode, headers }: AnswerHead): void {
    const { HttpResponseStream } = lambdaGlobal()
    if (HttpResponseStream === undefined) {
      throw new TypeError('a streaming function runs on a Lambda runtime only')
    }
    this.#statusCode = statusCode
    if (this.#gone.signal.aborted) {
      return
    }
    this.#isEventStream = isEventStream(headers['content-type'])
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
      await roomIn(this.#stream, this.#gone.signal)
    }
  }

  end(): void {
    this.#stream?.end()
  }

  /**
   * Sends no more: a client that reads too slowly, or an upstream that takes too long, is waited for no longer. Events end
   * with an error, so that nobody takes the part for the whole; any other answer ends before its JSON does.
   * The stream is never destroyed: Lambda's runtime client ends the process for it, before the settlement.
   */
  giveUp(): void {
    if (this.#isEventStream && !(this.#stream?.writableEnded || this.#gone.signal.aborted)) {
      this.#stream?.write(OUT_OF_TIME)
    }
    this.#gone.abort()
  }

  /** Resolves when the client has every byte, has left, or is waited for no longer. The rest is the platform's. */
  async finished(): Promise<void> {
    // Nothing may have been said, which must never happen (API Gateway makes a 502 of it), or no end after a part.
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
