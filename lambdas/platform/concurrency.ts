import { setImmediate } from 'node:timers/promises'

/** Limits how much work of one kind runs at a time. Work that finds no free place waits, first come, first served. */
export class Places {
  #free: number
  readonly #waiting: (() => void)[] = []

  /** @param count the number of places. */
  constructor(count: number) {
    this.#free = count
  }

  /** Resolves when a place is free, with the function that releases it. Call that function exactly once, even after a failure. */
  async take(): Promise<() => void> {
    if (this.#free === 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#free -= 1
    }
    return () => this.#giveBack()
  }

  /** Passes the place to the next in line, if any. */
  #giveBack(): void {
    const next = this.#waiting.shift()
    if (next === undefined) {
      this.#free += 1
    } else {
      next()
    }
  }
}

let last: Promise<unknown> = Promise.resolve()

/**
 * Resolves in a turn of the event loop that no other call gets. Long work awaits a turn before each of its steps. The process is
 * then never busy for longer than one step, however many requests have such work.
 */
export function nextTurn(): Promise<void> {
  const turn = last.then(() => setImmediate())
  last = turn
  return turn
}
