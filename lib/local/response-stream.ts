import { Writable } from 'node:stream'

/** Where the bytes of a streamed answer go. */
export interface ResponseSink {
  /** Takes bytes, and calls back, once and at any time, when it has room for more. */
  take(bytes: Buffer, taken: () => void): void
  /** All bytes have been taken. */
  end(): void
}

type WriteCallback = (error?: Error | null) => void

/** Writes straight to the stream, before the first write of the handler. */
type BeforeFirstWrite = (write: (chunk: string | Uint8Array) => void) => void

/** Thrown where Lambda's runtime client throws: the content type belongs to the head, which the first write sends. */
export class ContentTypeTooLateError extends Error {
  override readonly name = 'Runtime.InvalidStreamingOperation'
}

/**
 * The stream of one streamed answer, as Lambda's runtime client makes it (`aws-lambda-ric` 4, where it is the request that
 * carries the answer to the platform). The first `write` sends the prelude, even a write of nothing, and an `end` without
 * any write sends none, not even with bytes of its own. Every error of the stream also rejects a promise that nobody
 * awaits, which ends the process unless it is caught: a `destroy`, a write after the end, a connection that breaks.
 * `test/lambda-runtime` holds the client, and `test/local` this class, to the same list of facts.
 * Unlike there, a handler hears when nobody reads its answer any more ({@link abandon}).
 */
export class ResponseStream extends Writable {
  readonly #sink: ResponseSink
  /** Set by `awslambda.HttpResponseStream.from`, under the name that it has there. */
  _onBeforeFirstWrite: BeforeFirstWrite | undefined
  #hasBegun = false
  #pending: WriteCallback | undefined
  readonly #taken = () => this.#settle()

  /** @param highWaterMark bytes that may wait before `write` answers false; Node's own default when left out. */
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

  /** An answer that is destroyed before its end breaks the connection, which is an error of the stream. */
  override destroy(error?: Error): this {
    return super.destroy(error ?? (this.writableFinished || this.destroyed ? undefined : new HungUpError()))
  }

  /** Nobody reads the answer any more: the stream emits `close` before `finish`, and no error. */
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

  /** The write under way is called back too, or its writer would wait for ever. */
  override _destroy(error: Error | null, callback: WriteCallback): void {
    if (this.#pending !== undefined) {
      this.#settle(new Error('nobody reads the answer any more'))
    }
    callback(error)
  }

  #settle(error?: Error): void {
    const callback = this.#pending
    this.#pending = undefined
    callback?.(error)
  }
}

/** As Node says it of a request that ends without its response. */
class HungUpError extends Error {
  readonly code = 'ECONNRESET'
  constructor() {
    super('socket hang up')
  }
}

/** All that a handler has of its stream on Lambda, which is no `Writable`: there is no `closed`, no `errored`, no `pipe`. */
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

/** @returns the stream as its handler gets it. */
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
