/** How many invocations run, for a shutdown that lets them finish what the client no longer sees. */
export class RunningInvocations {
  #count = 0
  readonly #waiting = new Set<() => void>()

  /** Counts a running invocation until it ends, however it ends. */
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

  /** Resolves when none runs any more, or after the given time. */
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
