/** Polls that may stand in line at once, in milliseconds' worth of them: as in `takePollToken`. */
const LINE_MILLISECONDS = 1000

/**
 * The token bucket that `takePollToken` keeps in the table, in memory: the same rule in the same whole milliseconds, so that
 * hundreds of thousands of jobs can ask it. A test holds the two together.
 */
export class PollLine {
  readonly #gap: number
  #tat = Number.NEGATIVE_INFINITY

  constructor(perSecond: number) {
    this.#gap = Math.ceil(1000 / perSecond)
  }

  /** @returns the pause in milliseconds after which the poll may go, or undefined when the line is full. */
  take(nowMilliseconds: number): number | undefined {
    if (this.#tat < nowMilliseconds) {
      this.#tat = nowMilliseconds + this.#gap
      return 0
    }
    if (this.#tat > nowMilliseconds + Math.max(0, LINE_MILLISECONDS - this.#gap)) {
      return undefined
    }
    const pause = this.#tat - nowMilliseconds
    this.#tat += this.#gap
    return pause
  }
}
