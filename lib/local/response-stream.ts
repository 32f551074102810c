import { Writable } from 'node:stream'

/** Where the bytes of a streamed answer go. */
export interface ResponseSink {
  /** Takes bytes, and calls back, once and at any time, when it has room for more. */
  take(bytes: Buffer, taken: () => void): void
  /** All bytes have been taken. */
  end(): void
}

type WriteCallback = (error?: Error | null) => void

/** Thrown where Lambda's own runtime throws: the content type belongs to the head, which the first write sends. */
export class ContentTypeTooLateError extends Error {
  override readonly name = 'ContentTypeTooLateError'
}

/**
 * What Lambda hands a handler to write its answer to. As there, the first `write` sends the prelude, even a write of
 * nothing, and an `end` without any write sends none, not even with bytes of its own.
 * Unlike there, the stream is destroyed, and emits `close` before `finish`, when nobody reads the answer any more;
 * it never emits `error`, so that a handler need not listen for one.
 */
export class ResponseStream extends Writable {
  readonly #sink: ResponseSink
  #prelude: string | undefined
  #hasBegun = false
  #pending: WriteCallback | undefined
  readonly #taken = () => this.#settle()

  /** @param highWaterMark bytes that may wait before `write` answers false; Node's own default when left out. */
  constructor(sink: ResponseSink, highWaterMark?: number) {
    super(highWaterMark === undefined ? {} : { highWaterMark })
    this.#sink = sink
  }

  /** @throws ContentTypeTooLateError after the first write. */
  setContentType(_contentType: string): void {
    if (this.#hasBegun) {
      throw new ContentTypeTooLateError('the content type was set after the first write')
    }
  }

  /** What goes before the first byte that is written. */
  setPrelude(prelude: string): void {
    this.#prelude = prelude
  }

  override write(chunk: unknown, callback?: WriteCallback): boolean
  override write(chunk: unknown, encoding: BufferEncoding, callback?: WriteCallback): boolean
  override write(chunk: unknown, second?: BufferEncoding | WriteCallback, third?: WriteCallback): boolean {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      if (this.#prelude !== undefined) {
        super.write(this.#prelude)
      }
    }
    return typeof second === 'string' ? super.write(chunk, second, third) : super.write(chunk, second)
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
