/**
 * How long a reader makes an upstream wait, in all, before a later break may be its doing. Servers and proxies give up a
 * peer that takes nothing after many seconds (nginx, `send_timeout`: 60). A reader that keeps up makes an upstream wait for
 * some milliseconds at most.
 */
const HELD_UP_MILLISECONDS_MIN = 1_000

/**
 * How long one answer's upstream was made to wait by its reader. It is never forgotten: the break that it leads to may be
 * seen long after, behind megabytes that were on their way.
 */
export class HeldUpTime {
  #milliseconds = 0
  /** When the wait under way began, as a time of `performance.now()`. */
  #since: number | undefined

  /** Does nothing while it is made to wait already. */
  begin(): void {
    this.#since ??= performance.now()
  }

  /** Does nothing when it is not made to wait. */
  end(): void {
    if (this.#since !== undefined) {
      this.#milliseconds += performance.now() - this.#since
      this.#since = undefined
    }
  }

  /** Whether a break from here on may come of it. */
  get isLong(): boolean {
    const now = this.#since === undefined ? 0 : performance.now() - this.#since
    return this.#milliseconds + now >= HELD_UP_MILLISECONDS_MIN
  }
}
