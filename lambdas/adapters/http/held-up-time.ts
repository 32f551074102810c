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
