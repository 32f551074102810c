/** Counts running invocations, so that a shutdown lets them finish their work after the response. */
export class RunningInvocations {
  #count = 0
  readonly #waiting = new Set<() => void>()

  /** Counts an invocation until it ends in any way. */
  async track<Result>(invocation: Promise<Result>): Promise<Result> {
    this.#count += 1
    try {
      return await invocation
    } finally {
      this.#count -= 1
      if (this.#count === 0) {
        for (const resolve of this.#waiting) {
          resolve()
        }
      }
    }
  }

  /** Resolves when no invocation runs any more, or after the given time. */
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
