/** When a task starts and would end. A start of Infinity means that it runs into its time limit while it waits. */
export type TaskTimes = { readonly startsAtMs: number; readonly endsAtMs: number }

/** What a task needs to be placed. */
type TaskNeeds = {
  /** The earliest start. */
  readonly readyAtMs: number
  /** Infinity for a task that never ends by itself. */
  readonly runMs: number
  /** The time limit of the task: it gives its place back then at the latest. */
  readonly limitAtMs: number
}

/**
 * Places tasks, in the order of their submits, on a number of places. Every time is known at once, so a simulator needs
 * no timers and any clock will do.
 */
export class TaskSchedule {
  /** When each place becomes free; undefined when places have no end. */
  readonly #freeAtMs: number[] | undefined

  constructor(places: number) {
    this.#freeAtMs = Number.isFinite(places) ? Array.from({ length: Math.max(1, places) }, () => 0) : undefined
  }

  /** Times of a new task. */
  place(needs: TaskNeeds): TaskTimes {
    const places = this.#freeAtMs ?? [0]
    const earliestMs = Math.min(...places)
    const startsAtMs = Math.max(needs.readyAtMs, earliestMs)
    if (startsAtMs >= needs.limitAtMs) {
      return { startsAtMs: Number.POSITIVE_INFINITY, endsAtMs: Number.POSITIVE_INFINITY }
    }
    const endsAtMs = startsAtMs + needs.runMs
    if (this.#freeAtMs !== undefined) {
      this.#freeAtMs[this.#freeAtMs.indexOf(earliestMs)] = Math.min(endsAtMs, needs.limitAtMs)
    }
    return { startsAtMs, endsAtMs }
  }

  /** Takes up a task whose times are settled already. */
  occupy(endsAtMs: number): void {
    if (this.#freeAtMs !== undefined) {
      this.#freeAtMs[this.#freeAtMs.indexOf(Math.min(...this.#freeAtMs))] = endsAtMs
    }
  }
}
