import type { ServerResponse } from 'node:http'
import { InFlight, type Place } from './in-flight.ts'

/** What a stream holds whose client does not read: in the connections to the client and to the upstream, and between both. */
export const WAITING_STREAM_BYTES = 256 * 1024

/** The memory for responses that clients have not read. */
export type UnreadBounds = {
  /** Of the requests with one key. */
  readonly keyBytesMax: number
  /** Of all requests together. */
  readonly processBytesMax: number
  /** The interval of checks while the responses are above a bound. */
  readonly lookMilliseconds: number
}

/** The largest response has 160 MiB: each key may have one of these unread. */
const UNREAD_BOUNDS: UnreadBounds = {
  keyBytesMax: 192 * 1024 * 1024,
  processBytesMax: 384 * 1024 * 1024,
  lookMilliseconds: 500,
}

/**
 * A client without progress for this many consecutive checks does not read; above twice a bound, fewer checks suffice. Checks are counted
 * instead of time, because a busy process neither sends nor checks.
 */
const IDLE_LOOKS_MAX = 10
const IDLE_LOOKS_MAX_ABOVE_TWICE = 2

type Held = { readonly key: string; readonly bytes: number; readonly cut: () => void; idleLooks: number }

/** One response that waits for its client. */
export type HeldResponse = {
  /** The client has read a part. */
  taken(): void
  /** Releases the response. Idempotent. */
  release(): void
}

/**
 * Counts the bytes of responses that wait for their clients, per key and in total. Above a bound, the responses of clients that do not
 * read are cut, those without progress for the longest first; above twice a bound, they are cut sooner.
 */
export class UnreadResponses {
  readonly #bounds: UnreadBounds
  /** The response without progress for the longest comes first. */
  readonly #held = new InFlight<Held>()
  #bytes = 0
  readonly #bytesOfKey = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: UnreadBounds = UNREAD_BOUNDS) {
    this.#bounds = bounds
  }

  /** Counts a response until it is released. @param cut ends the response unfinished; `release` follows later. */
  hold(key: string, bytes: number, cut: () => void): HeldResponse {
    const held = { key, bytes, cut, idleLooks: 0 }
    let place = this.#held.add(held)
    this.#count(key, bytes)
    if (this.#excess(key) > 1) {
      this.#watch()
    }
    return {
      taken: () => {
        if (this.#held.remove(place)) {
          held.idleLooks = 0
          place = this.#held.add(held)
        }
      },
      release: () => this.#release(place),
    }
  }

  #release(place: Place<Held>): void {
    if (this.#held.remove(place)) {
      const { key, bytes } = place.value
      this.#count(key, -bytes)
    }
  }

  #count(key: string, bytes: number): void {
    this.#bytes += bytes
    const ofKey = (this.#bytesOfKey.get(key) ?? 0) + bytes
    if (ofKey === 0) {
      this.#bytesOfKey.delete(key)
    } else {
      this.#bytesOfKey.set(key, ofKey)
    }
  }

  /** Schedules checks while something is above a bound. */
  #watch(): void {
    const isAbove = Array.from(this.#bytesOfKey.keys()).some((key) => this.#excess(key) > 1)
    if (isAbove && this.#timer === undefined) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        this.#look()
        this.#watch()
      }, this.#bounds.lookMilliseconds).unref()
    }
  }

  #look(): void {
    for (const place of this.#held) {
      const held = place.value
      held.idleLooks += 1
      const excess = this.#excess(held.key)
      const most = excess > 2 ? IDLE_LOOKS_MAX_ABOVE_TWICE : IDLE_LOOKS_MAX
      if (excess > 1 && held.idleLooks >= most) {
        this.#release(place)
        held.cut()
      }
    }
  }

  /** The bytes of a key, or of all, relative to their bound; 1 is at the bound. */
  #excess(key: string): number {
    const { keyBytesMax, processBytesMax } = this.#bounds
    return Math.max((this.#bytesOfKey.get(key) ?? 0) / keyBytesMax, this.#bytes / processBytesMax)
  }
}

/** Bytes per write, so that the progress of a slow client shows after each slice. */
export const SLICE_BYTES = 256 * 1024

type Writing = {
  /** The client has read a slice. */
  readonly onTaken: () => void
  /** Everything is handed over, and there is room for more. */
  readonly onDone: () => void
}

/** Writes bytes to a response at the pace of its client. No callback is called after the client has left. */
export function writeInSlices(response: ServerResponse, bytes: Buffer, { onTaken, onDone }: Writing): void {
  let at = 0
  const goOn = () => {
    while (at < bytes.length) {
      const slice = bytes.subarray(at, at + SLICE_BYTES)
      at += slice.length
      if (!response.write(slice)) {
        response.once('drain', () => {
          onTaken()
          goOn()
        })
        return
      }
    }
    onDone()
  }
  goOn()
}

/**
 * Calls a listener once the connection of a response has closed: at once where the client left before anybody looked at its request,
 * because the event does not come twice.
 */
export function whenClosed(response: ServerResponse, listener: () => void): void {
  if (response.closed) {
    listener()
  } else {
    response.once('close', listener)
  }
}
