/** Allows `perSecond` calls a second, with a burst of the same size but at least one. Infinity allows all calls. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #now: () => number
  #tokens: number
  #filledAtMs: number

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond
    this.#now = now
    this.#tokens = Math.max(1, perSecond)
    this.#filledAtMs = now()
  }

  /** Whether the call is allowed. */
  take(): boolean {
    if (!Number.isFinite(this.#perSecond)) {
      return true
    }
    const nowMs = this.#now()
    const refilled = this.#tokens + (Math.max(0, nowMs - this.#filledAtMs) / 1000) * this.#perSecond
    this.#tokens = Math.min(Math.max(1, this.#perSecond), refilled)
    this.#filledAtMs = nowMs
    if (this.#tokens < 1) {
      return false
    }
    this.#tokens -= 1
    return true
  }
}
