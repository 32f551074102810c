/** How requests follow each other, on a number of kept connections. */
export type LoadPlan =
  /** Each connection sends its next request when the one before is answered. */
  | { readonly kind: 'closed'; readonly connections: number }
  /** The same, until so many requests have been sent. */
  | { readonly kind: 'counted'; readonly connections: number; readonly requests: number }
  /** So many requests are due each second, evenly, whether the server keeps up or not. */
  | { readonly kind: 'open'; readonly connections: number; readonly perSecond: number }

/** When the requests of an open loop are due, whatever the clock that asks for them misses in between. */
export class Schedule {
  readonly #gapMilliseconds: number
  readonly #startAt: number
  #count = 0

  /** The first request is due at `startAt`, milliseconds. */
  constructor(perSecond: number, startAt: number) {
    this.#gapMilliseconds = 1000 / perSecond
    this.#startAt = startAt
  }

  /** The times, not given before, of all requests that are due by now. */
  dueBy(now: number): number[] {
    const due: number[] = []
    for (let at = this.#next(); at <= now; at = this.#next()) {
      due.push(at)
      this.#count += 1
    }
    return due
  }

  /** Counted anew each time, so that no rounding adds up. */
  #next(): number {
    return this.#startAt + this.#count * this.#gapMilliseconds
  }
}
