import type { ClientRequest, IncomingMessage } from 'node:http'
import { HeldUpTime } from './held-up-time.ts'

/** The answer of an upstream did not come to its end. `reason` is a code or a few words of ours, never of the answer. */
export class UpstreamBrokenError extends Error {
  override readonly name = 'UpstreamBrokenError'
  readonly reason: string
  constructor(reason: string) {
    super(`the upstream broke off its answer: ${reason}`)
    this.reason = reason
  }
}

/**
 * How a body ended: whole, by the upstream's or the network's fault, because its reader let go of it, or, `held_up`, in
 * what is, or cannot be told from, a break that may be its slow reader's doing.
 */
export type BodyEnd = 'whole' | 'broken' | 'destroyed' | 'held_up'

/**
 * What is held of a body that its reader is slower than. With as much again inside Node's stream, then TCP makes the
 * upstream wait. One read of a socket is at most this long.
 */
const HELD_BYTES_MAX = 64 * 1024

/** An upstream may answer before it has read the whole request; its connection is given this long to take the rest. */
const REQUEST_REST_MILLISECONDS = 1_000

const END: IteratorReturnResult<undefined> = { done: true, value: undefined }

type Waiting = { readonly resolve: (result: IteratorResult<Buffer>) => void; readonly reject: (error: Error) => void }

/**
 * The bytes of one answer as they arrive, for one reader. Iterating throws {@link UpstreamBrokenError} when the upstream
 * is silent for too long, resets, or ends before the length that it announced, and after `destroy`. A body that was read
 * to its end gives its connection back to the pool; leaving the iteration before closes the connection. Silence counts
 * before the iteration begins, too, but never while the upstream is the one that waits.
 *
 * A class of its own because Node's iteration over a stream costs several promises for each chunk.
 */
export class UpstreamBody implements AsyncIterableIterator<Buffer, undefined> {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ClientRequest
  readonly #idleTimer: NodeJS.Timeout
  readonly #held: Buffer[] = []
  #heldBytes = 0
  #heldBytesMax = HELD_BYTES_MAX
  readonly #heldUp = new HeldUpTime()
  #isBegun = false
  #waiting: Waiting | undefined
  #end: BodyEnd | undefined
  #reason = 'given up'
  #isGivenUp = false
  #onEnd: ((end: BodyEnd) => void) | undefined
  #onStart: (() => void) | undefined

  /** To be made in the event that brings the head of the answer. `idleMilliseconds` is the longest silence. */
  constructor(incoming: IncomingMessage, outgoing: ClientRequest, idleMilliseconds: number) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#idleTimer = setTimeout(() => this.#onIdle(), idleMilliseconds)
    incoming.on('data', (chunk: Buffer) => this.#onChunk(chunk))
    // Node says ECONNRESET whenever an answer is cut; a reset that really came is an error of the request.
    incoming.on('error', () => this.#finish('broken', 'answer cut short'))
    incoming.once('close', () => this.#finish('broken', 'answer cut short'))
    incoming.once('end', () => this.#onIncomingEnd())
  }

  /** Calls `how` once, or at once when it is over; a body can be over whole before all of it was read. */
  onceOver(how: (end: BodyEnd) => void): void {
    if (this.#end === undefined) {
      this.#onEnd = how
    } else {
      how(this.#verdictOn(this.#end))
    }
  }

  /**
   * The beginning of the body without taking it: all of it, or what came within so many milliseconds, or as much as is
   * held. To be called before the body is read. Never rejects.
   */
  async peek(milliseconds: number): Promise<Buffer> {
    if (this.#end === undefined && this.#heldBytes < this.#heldBytesMax) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds)
        this.#onStart = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      this.#onStart = undefined
    }
    return Buffer.concat(this.#held)
  }

  /** Takes in up to so many bytes before the body is read, so that its upstream need not wait for a reader that must. */
  hold(bytesMax: number): void {
    if (!this.#isBegun) {
      this.#heldBytesMax = bytesMax
    }
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    this.#isBegun = true
    this.#heldBytesMax = HELD_BYTES_MAX
    const chunk = this.#held.shift()
    if (chunk !== undefined) {
      this.#heldBytes -= chunk.length
      if (this.#heldBytes === 0 && this.#end === undefined) {
        this.#heldUp.end()
        this.#incoming.resume()
      }
      return Promise.resolve({ done: false, value: chunk })
    }
    if (this.#end !== undefined) {
      // A body that arrived whole and was let go of before it was read is not whole for its reader.
      return this.#end === 'whole' && !this.#isGivenUp
        ? Promise.resolve(END)
        : Promise.reject(new UpstreamBrokenError(this.#reason))
    }
    this.#idleTimer.refresh()
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

  /** Closes the connection, unless the body has already ended; a pending and any later `next` throws. */
  destroy(): void {
    this.#isGivenUp = true
    this.#held.length = 0
    this.#finish('destroyed', 'given up')
  }

  /** Breaks the body off by what its request met, unless the last byte is here already, read or not. */
  fail(reason: string): void {
    if (!this.#incoming.complete) {
      this.#finish('broken', reason)
    }
  }

  #onChunk(chunk: Buffer): void {
    const waiting = this.#waiting
    if (waiting !== undefined) {
      this.#waiting = undefined
      waiting.resolve({ done: false, value: chunk })
      return
    }
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (!this.#isBegun) {
      this.#idleTimer.refresh()
    }
    if (this.#heldBytes >= this.#heldBytesMax) {
      this.#heldUp.begin()
      this.#incoming.pause()
      this.#onStart?.()
    }
  }

  #onIncomingEnd(): void {
    if (!this.#incoming.complete) {
      this.#finish('broken', 'answer cut short')
      return
    }
    if (!this.#outgoing.writableFinished) {
      const timer = setTimeout(() => this.#outgoing.destroy(), REQUEST_REST_MILLISECONDS)
      this.#outgoing.once('close', () => clearTimeout(timer))
    }
    this.#finish('whole', this.#reason)
  }

  /** Silence counts while someone waits for a chunk, and before anyone has asked for the first, unless no more is held. */
  #onIdle(): void {
    if (this.#waiting !== undefined || (!this.#isBegun && !this.#incoming.isPaused())) {
      this.#finish('broken', 'idle timeout')
    }
  }

  #finish(end: BodyEnd, reason: string): void {
    if (this.#end !== undefined) {
      return
    }
    this.#end = end
    this.#reason = reason
    clearTimeout(this.#idleTimer)
    if (end !== 'whole') {
      this.#outgoing.destroy()
    }
    const waiting = this.#waiting
    this.#waiting = undefined
    if (end === 'whole') {
      waiting?.resolve(END)
    } else {
      waiting?.reject(new UpstreamBrokenError(reason))
    }
    this.#onStart?.()
    this.#heldUp.end()
    this.#onEnd?.(this.#verdictOn(end))
  }

  /** A cut looks like an end where nothing but the end of its connection ends a body. */
  #verdictOn(end: BodyEnd): BodyEnd {
    const { 'content-length': length, 'transfer-encoding': encoding } = this.#incoming.headers
    const mayBeCut = end === 'broken' || (end === 'whole' && length === undefined && encoding === undefined)
    return mayBeCut && this.#heldUp.isLong ? 'held_up' : end
  }
}
