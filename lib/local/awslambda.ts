import { Writable } from 'node:stream'
import type { StreamifyHandler } from 'aws-lambda'

/**
 * Defines the global `awslambda` like Lambda's runtime. Import this before any module that uses the global, because handlers wrap
 * themselves when they are loaded.
 */

/** NUL bytes between the metadata and the body of a streamed response. */
const DELIMITER_BYTES = 8

/** The parts of a stream that frame a response. */
type Framed = Pick<ResponseStream, 'setContentType' | '_onBeforeFirstWrite'>

/** Marks a streaming handler for Lambda's runtime. */
const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming')

/** Whether a handler was wrapped with `awslambda.streamifyResponse`; Lambda passes a stream to no other handler. */
export function isStreaming(handler: unknown): handler is StreamifyHandler {
  return typeof handler === 'function' && STREAMING in handler
}

/** @returns the handler itself, marked. */
function streamifyResponse<Handler extends object>(handler: Handler): Handler {
  return Object.assign(handler, { [STREAMING]: 'response' })
}

const HttpResponseStream = {
  /**
   * @param metadata statusCode, headers, multiValueHeaders and cookies, all optional.
   * @returns the stream itself; the metadata and the delimiter precede its first write.
   * @throws ContentTypeTooLateError after the first write.
   */
  from<Stream extends Framed>(stream: Stream, metadata: Record<string, unknown>): Stream {
    stream.setContentType('application/vnd.awslambda.http-integration-response')
    // JSON escapes control characters, so the first NUL begins the delimiter.
    const prelude = JSON.stringify(metadata)
    stream._onBeforeFirstWrite = (write) => {
      write(prelude)
      write(new Uint8Array(DELIMITER_BYTES))
    }
    return stream
  },
}

// A library of a handler may have defined the global already.
Object.assign(globalThis, {
  awslambda: { ...Reflect.get(globalThis, 'awslambda'), streamifyResponse, HttpResponseStream },
})

/** The destination of a streamed response. */
export interface ResponseSink {
  /** Takes bytes, and calls back once, at any time, when there is room for more. */
  take(bytes: Buffer, taken: () => void): void
  /** All bytes have been taken. */
  end(): void
}

type WriteCallback = (error?: Error | null) => void

/** Writes directly to the stream, before the first write of the handler. */
type BeforeFirstWrite = (write: (chunk: string | Uint8Array) => void) => void

/** Thrown as by Lambda's runtime client: the content type belongs to the head, which the first write sends. */
export class ContentTypeTooLateError extends Error {
  override readonly name = 'Runtime.InvalidStreamingOperation'
}

/**
 * The stream of one response, like that of Lambda's runtime client (`aws-lambda-ric` 4, where the stream is the request that carries the
 * response to the platform). The first `write` sends the prelude, even if it is empty; an `end` without a previous `write` sends no
 * prelude, even if the `end` has bytes. Every error of the stream also rejects a promise that no one awaits, which ends the process unless
 * it is caught: a `destroy`, a write after the end, a broken connection.
 * `test/lambda-runtime` and `test/local` hold the client and this class to the same list of facts.
 * Unlike the client, this class tells the handler when its reader has left ({@link abandon}).
 */
export class ResponseStream extends Writable {
  readonly #sink: ResponseSink
  /** Set by `awslambda.HttpResponseStream.from`, under the same name. */
  _onBeforeFirstWrite: BeforeFirstWrite | undefined
  #hasBegun = false
  #pending: WriteCallback | undefined
  readonly #taken = () => this.#settle()

  /** @param highWaterMark bytes that may be buffered before `write` returns false; default: Node's. */
  constructor(sink: ResponseSink, highWaterMark?: number) {
    super(highWaterMark === undefined ? {} : { highWaterMark })
    this.#sink = sink
    this.on('error', (error) => void Promise.reject(error))
  }

  /** @throws ContentTypeTooLateError after the first write. */
  setContentType(_contentType: string): void {
    if (this.#hasBegun) {
      throw new ContentTypeTooLateError('Cannot set content-type, too late.')
    }
  }

  override write(chunk: unknown, callback?: WriteCallback): boolean
  override write(chunk: unknown, encoding: BufferEncoding, callback?: WriteCallback): boolean
  override write(chunk: unknown, second?: BufferEncoding | WriteCallback, third?: WriteCallback): boolean {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      this._onBeforeFirstWrite?.((bytes) => void super.write(bytes))
    }
    const bytes = typeof chunk === 'string' || chunk instanceof Uint8Array ? chunk : JSON.stringify(chunk)
    return typeof second === 'string' ? super.write(bytes, second, third) : super.write(bytes, second)
  }

  /** Destroying a response before its end breaks the connection, which is an error of the stream. */
  override destroy(error?: Error): this {
    return super.destroy(error ?? (this.writableFinished || this.destroyed ? undefined : new HungUpError()))
  }

  /** The reader has left: the stream emits `close` before `finish`, and no error. */
  abandon(): void {
    super.destroy()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: WriteCallback): void {
    this.#pending = callback
    this.#sink.take(chunk, this.#taken)
  }

  override _final(callback: WriteCallback): void {
    this.#sink.end()
    callback()
  }

  /** Also calls back the write under way; otherwise its writer would wait forever. */
  override _destroy(error: Error | null, callback: WriteCallback): void {
    if (this.#pending !== undefined) {
      this.#settle(new Error('nobody reads the response any more'))
    }
    callback(error)
  }

  #settle(error?: Error): void {
    const callback = this.#pending
    this.#pending = undefined
    callback?.(error)
  }
}

/** Node's error for a request that ends without a response. */
class HungUpError extends Error {
  readonly code = 'ECONNRESET'
  constructor() {
    super('socket hang up')
  }
}

/** The interface of a handler's stream on Lambda, which is not a full `Writable`: it has no `closed`, `errored` or `pipe`. */
const METHODS = [
  ...['write', 'end', 'cork', 'uncork', 'destroy', 'setContentType', 'emit', 'on', 'once', 'off'],
  ...['addListener', 'prependListener', 'prependOnceListener', 'removeListener', 'removeAllListeners'],
  ...['listeners', 'rawListeners', 'listenerCount', 'eventNames', 'setMaxListeners', 'getMaxListeners'],
]
const VARIABLES = ['destroyed', '_onBeforeFirstWrite']
const CONSTANTS = [
  ...['writable', 'writableCorked', 'writableEnded', 'writableFinished', 'writableHighWaterMark', 'writableLength'],
  ...['writableNeedDrain', 'writableObjectMode'],
]

/** @returns the stream with the interface for its handler. */
export function streamForHandler(stream: ResponseStream): awslambda.HttpResponseStream {
  const seen = Object.create(Object.prototype)
  for (const name of METHODS) {
    seen[name] = Reflect.get(stream, name).bind(stream)
  }
  for (const name of [...VARIABLES, ...CONSTANTS]) {
    const get = () => Reflect.get(stream, name)
    const set = (value: unknown) => Reflect.set(stream, name, value)
    Object.defineProperty(seen, name, VARIABLES.includes(name) ? { get, set } : { get })
  }
  return seen
}
