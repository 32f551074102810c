/** The start and the end of a task. A start of Infinity means that the task expires while it waits. */
export type TaskTimes = { readonly startsAtMs: number; readonly endsAtMs: number }

/** The input of the schedule for one task. */
type TaskNeeds = {
  /** The earliest start. */
  readonly readyAtMs: number
  /** Infinity for a task that never finishes. */
  readonly runMs: number
  /** The time limit, when the task frees its place at the latest. */
  readonly limitAtMs: number
}

/**
 * Assigns tasks, in the order of their submits, to a number of places. All times are known at once, so a simulator needs no timers
 * and works with any clock.
 */
export class TaskSchedule {
  /** When each place becomes free; undefined without a limit of places. */
  readonly #freeAtMs: number[] | undefined

  constructor(places: number) {
    this.#freeAtMs = Number.isFinite(places) ? Array.from({ length: Math.max(1, places) }, () => 0) : undefined
  }

  /** Schedules a new task. */
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

  /** Adds a task with known times. */
  occupy(endsAtMs: number): void {
    if (this.#freeAtMs !== undefined) {
      this.#freeAtMs[this.#freeAtMs.indexOf(Math.min(...this.#freeAtMs))] = endsAtMs
    }
  }
}
