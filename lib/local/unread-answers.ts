/** What of all answers may be held in memory for clients that have not read them. */
export type UnreadBounds = {
  /** Of the requests with one key. */
  readonly keyBytesMax: number
  /** Of all requests together. */
  readonly processBytesMax: number
  /** How often the answers are looked at while they are above a bound. */
  readonly lookMilliseconds: number
}

/** The largest answer is one of 160 MiB: a key may have one of them wait, whatever its client does. */
const UNREAD_BOUNDS: UnreadBounds = {
  keyBytesMax: 192 * 1024 * 1024,
  processBytesMax: 384 * 1024 * 1024,
  lookMilliseconds: 500,
}

/**
 * A client that has taken nothing at so many looks in a row does not read; above twice a bound, at so few. Looks and no
 * clock, because a process that is busy sends nothing either, and does not look.
 */
const IDLE_LOOKS_MAX = 10
const IDLE_LOOKS_MAX_ABOVE_TWICE = 2

type Held = { readonly key: string; readonly bytes: number; readonly cut: () => void; idleLooks: number }

/** One answer that waits for its client. */
export type HeldAnswer = {
  /** The client has taken some of it. */
  taken(): void
  /** It is held no more; may be said twice. */
  release(): void
}

/**
 * The bytes of answers that wait for their clients, by key and in all. Above a bound the answers of clients that do not read
 * are cut, those first that have taken nothing for the longest; above twice a bound they are cut sooner.
 */
export class UnreadAnswers {
  readonly #bounds: UnreadBounds
  /** The one that has taken nothing for the longest comes first. */
  readonly #held = new Set<Held>()
  #bytes = 0
  readonly #bytesOfKey = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: UnreadBounds = UNREAD_BOUNDS) {
    this.#bounds = bounds
  }

  /** Holds an answer until it is released. @param cut ends the answer unfinished; `release` follows in time. */
  hold(key: string, bytes: number, cut: () => void): HeldAnswer {
    const held = { key, bytes, cut, idleLooks: 0 }
    this.#held.add(held)
    this.#count(key, bytes)
    this.#watch()
    return {
      taken: () => {
        if (this.#held.delete(held)) {
          held.idleLooks = 0
          this.#held.add(held)
        }
      },
      release: () => this.#release(held),
    }
  }

  #release(held: Held): void {
    if (this.#held.delete(held)) {
      this.#count(held.key, -held.bytes)
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

  /** Looks at them in a moment for as long as something is above a bound. */
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
    for (const held of this.#held) {
      held.idleLooks += 1
      const excess = this.#excess(held.key)
      const most = excess > 2 ? IDLE_LOOKS_MAX_ABOVE_TWICE : IDLE_LOOKS_MAX
      if (excess > 1 && held.idleLooks >= most) {
        this.#release(held)
        held.cut()
      }
    }
  }

  /** By how much the bytes of a key, or those of all, are above their bound; 1 is at the bound. */
  #excess(key: string): number {
    const { keyBytesMax, processBytesMax } = this.#bounds
    return Math.max((this.#bytesOfKey.get(key) ?? 0) / keyBytesMax, this.#bytes / processBytesMax)
  }
}
