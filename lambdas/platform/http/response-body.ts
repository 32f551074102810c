import type { ClientRequest, IncomingMessage } from 'node:http'

/** Chunks that wait for their reader. Many small ones reach the reader as one, because each read costs more than their copy. */
export class HeldChunks {
  readonly #chunks: Buffer[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }

  /** All bytes, which stay; empty for none. */
  peek(): Buffer {
    const [only] = this.#chunks
    return only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks, this.#bytes)
  }

  /** All bytes, which leave; undefined for none. */
  take(): Buffer | undefined {
    const taken = this.#chunks.length === 0 ? undefined : this.peek()
    this.clear()
    return taken
  }

  clear(): void {
    this.#chunks.length = 0
    this.#bytes = 0
  }
}

/**
 * How long a reader must make a server wait in total before a later break may be its own doing. Servers and proxies give up on
 * a client that takes nothing after many seconds (nginx, `send_timeout`: 60); a reader that keeps up causes waits of a few
 * milliseconds.
 */
const HELD_UP_MILLISECONDS_MIN = 1_000

/**
 * How long the reader of one response has made its server wait. The total never decreases: a break may be noticed long after
 * the wait that caused it, behind megabytes that were already on their way.
 */
export class HeldUpTime {
  #milliseconds = 0
  /** When the present wait began, as a time of `performance.now()`. */
  #since: number | undefined

  /** Begins a wait, unless one is under way. */
  begin(): void {
    this.#since ??= performance.now()
  }

  /** Ends the wait that is under way, if any. */
  end(): void {
    if (this.#since !== undefined) {
      this.#milliseconds += performance.now() - this.#since
      this.#since = undefined
    }
  }

  /** Whether a break from now on may be the reader's doing. */
  get isLong(): boolean {
    const present = this.#since === undefined ? 0 : performance.now() - this.#since
    return this.#milliseconds + present >= HELD_UP_MILLISECONDS_MIN
  }
}

/** A response did not arrive whole. `reason` is an error code or a fixed phrase, and never holds a part of the response. */
export class ResponseBrokenError extends Error {
  override readonly name = 'ResponseBrokenError'
  readonly reason: string
  constructor(reason: string) {
    super(`the response broke off: ${reason}`)
    this.reason = reason
  }
}

/**
 * How a body ended: whole; broken by the server or the network; destroyed by its reader; or `held_up`: the body broke, or may
 * have been cut, after a slow reader had made the server wait, so that the reader may be the cause.
 */
export type BodyEnd = 'whole' | 'broken' | 'destroyed' | 'held_up'

/** The reason of a body whose server was silent for too long. */
export const IDLE_TIMEOUT = 'idle timeout'

/** The bytes held for a slow reader: as many as one read of a socket. Node holds as much again, and then TCP makes the server wait. */
const HELD_BYTES_MAX = 64 * 1024

/** A server may respond before it has read the whole request; its connection has this long to take the rest. */
const REQUEST_REST_MILLISECONDS = 1_000

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

type Waiting = { readonly resolve: (result: IteratorResult<Buffer>) => void; readonly reject: (error: Error) => void }

/**
 * The bytes of one response as they arrive, for one reader. The iteration throws {@link ResponseBrokenError} when the server is
 * silent for too long, resets the connection or ends before the announced length, and after `destroy`. A body that was read to
 * its end returns its connection to the pool; leaving the iteration early closes the connection. Silence counts from the head
 * of the response, except while the reader makes the server wait.
 *
 * Node's own iteration over a stream costs several promises per chunk, which this class avoids.
 */
export class ResponseBody implements AsyncIterableIterator<Buffer, undefined> {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ClientRequest
  readonly #idleTimer: NodeJS.Timeout | undefined
  readonly #held = new HeldChunks()
  readonly #heldUp = new HeldUpTime()
  #isBegun = false
  #waiting: Waiting | undefined
  #end: BodyEnd | undefined
  #reason = 'given up'
  #isDestroyed = false
  #onEnd: ((end: BodyEnd, reason: string) => void) | undefined
  #onStart: (() => void) | undefined

  /** Must be created in the event that brings the head of the response. `idleMilliseconds` bounds each silence, if given. */
  constructor(incoming: IncomingMessage, outgoing: ClientRequest, idleMilliseconds: number | undefined) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#idleTimer = idleMilliseconds === undefined ? undefined : setTimeout(() => this.#onIdle(), idleMilliseconds)
    incoming.on('data', (chunk: Buffer) => this.#onChunk(chunk))
    // Node reports ECONNRESET for every cut; a real reset is an error of the request.
    incoming.on('error', () => this.#finish('broken', 'reply cut short'))
    incoming.once('close', () => this.#finish('broken', 'reply cut short'))
    incoming.once('end', () => this.#onIncomingEnd())
  }

  /** Whether nothing more arrives. A small body arrives with its head. */
  get isOver(): boolean {
    return this.#end !== undefined
  }

  /**
   * Calls `listener` once with the end of the body, and the reason of a {@link ResponseBrokenError}. A body can end whole before
   * all of it was read.
   */
  onceOver(listener: (end: BodyEnd, reason: string) => void): void {
    if (this.#end === undefined) {
      this.#onEnd = listener
    } else {
      listener(this.#verdictOn(this.#end), this.#reason)
    }
  }

  /**
   * Looks at the beginning of the body without taking it: everything that arrives within the given time, or as much as is
   * held. Must be called before the body is read. Never rejects.
   */
  async peek(milliseconds: number): Promise<Buffer> {
    if (this.#end === undefined && this.#held.bytes < HELD_BYTES_MAX) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, milliseconds)
      this.#onStart = resolve
      await promise
      clearTimeout(timer)
      this.#onStart = undefined
    }
    return this.#held.peek()
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    this.#isBegun = true
    const value = this.#held.take()
    if (value !== undefined) {
      if (this.#end === undefined) {
        this.#heldUp.end()
        this.#incoming.resume()
      }
      return Promise.resolve({ done: false, value })
    }
    if (this.#end !== undefined) {
      // A body that arrived whole and was destroyed before it was read is not whole for its reader.
      return this.#end === 'whole' && !this.#isDestroyed
        ? Promise.resolve(END)
        : Promise.reject(new ResponseBrokenError(this.#reason))
    }
    this.#idleTimer?.refresh()
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  /** Ends the iteration early. */
  return(): Promise<IteratorReturnResult<undefined>> {
    this.destroy()
    return Promise.resolve(END)
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Buffer, undefined> {
    return this
  }

  /** Closes the connection, unless the body has already ended. A pending `next` and any later one throw. */
  destroy(): void {
    this.#isDestroyed = true
    this.#held.clear()
    this.#finish('destroyed', 'given up')
  }

  /** Breaks the body off for the given reason, unless its last byte has already arrived. */
  fail(reason: string): void {
    if (!this.#incoming.complete) {
      this.#finish('broken', reason)
    }
  }

  #onChunk(chunk: Buffer): void {
    this.#held.push(chunk)
    if (this.#waiting !== undefined) {
      if (this.#held.bytes === chunk.length) {
        queueMicrotask(() => this.#deliver())
      }
      return
    }
    if (!this.#isBegun) {
      this.#idleTimer?.refresh()
    }
    if (this.#held.bytes >= HELD_BYTES_MAX) {
      this.#heldUp.begin()
      this.#incoming.pause()
      this.#onStart?.()
    }
  }

  /** One read of the socket may bring many chunks, which reach the reader as one. */
  #deliver(): void {
    const held = this.#waiting && this.#held.take()
    if (held !== undefined) {
      this.#waiting?.resolve({ done: false, value: held })
      this.#waiting = undefined
    }
  }

  #onIncomingEnd(): void {
    if (!this.#incoming.complete) {
      this.#finish('broken', 'reply cut short')
      return
    }
    if (!this.#outgoing.writableFinished) {
      const timer = setTimeout(() => this.#outgoing.destroy(), REQUEST_REST_MILLISECONDS)
      this.#outgoing.once('close', () => clearTimeout(timer))
    }
    this.#finish('whole', this.#reason)
  }

  /** Silence counts while the reader waits for a chunk, and before it asks for the first one unless the body is paused. */
  #onIdle(): void {
    if (this.#waiting !== undefined || (!this.#isBegun && !this.#incoming.isPaused())) {
      this.#finish('broken', IDLE_TIMEOUT)
    }
  }

  #finish(end: BodyEnd, reason: string): void {
    if (this.#end !== undefined) {
      return
    }
    this.#deliver()
    this.#end = end
    this.#reason = reason
    clearTimeout(this.#idleTimer)
    const waiting = this.#waiting
    this.#waiting = undefined
    if (end === 'whole') {
      waiting?.resolve(END)
    } else {
      this.#outgoing.destroy()
      waiting?.reject(new ResponseBrokenError(reason))
    }
    this.#onStart?.()
    this.#heldUp.end()
    this.#onEnd?.(this.#verdictOn(end), reason)
  }

  /** Where only the end of the connection ends the body, a cut looks like an end. */
  #verdictOn(end: BodyEnd): BodyEnd {
    const { 'content-length': length, 'transfer-encoding': encoding } = this.#incoming.headers
    const mayBeCut = end === 'broken' || (end === 'whole' && length === undefined && encoding === undefined)
    return mayBeCut && this.#heldUp.isLong ? 'held_up' : end
  }
}
