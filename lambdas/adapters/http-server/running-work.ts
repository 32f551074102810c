/** Counts work that goes on after a response, so that a shutdown lets it finish. */
export class RunningWork {
  #count = 0
  readonly #waiting = new Set<() => void>()

  /** Counts work until it ends in any way. */
  async track<Result>(work: Promise<Result>): Promise<Result> {
    this.#count += 1
    try {
      return await work
    } finally {
      this.#count -= 1
      if (this.#count === 0) {
        for (const resolve of this.#waiting) {
          resolve()
        }
      }
    }
  }

  /** Resolves when nothing runs any more, or after the given time. */
  async settled(millisecondsMax: number): Promise<void> {
    if (this.#count === 0) {
      return
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, millisecondsMax)
      this.#waiting.add(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
