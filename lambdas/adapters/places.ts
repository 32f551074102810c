/** A bounded number of places for work that takes much of something; who finds none waits, first come first served. */
export class Places {
  #free: number
  readonly #waiting: (() => void)[] = []

  /** @param count how many may have a place at a time. */
  constructor(count: number) {
    this.#free = count
  }

  /** Resolves when a place is free, with what gives it back; to be called once, whatever happened. */
  async take(): Promise<() => void> {
    if (this.#free === 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#free -= 1
    }
    return () => this.#giveBack()
  }

  /** The place goes to the next in line, if anyone waits. */
  #giveBack(): void {
    const next = this.#waiting.shift()
    if (next === undefined) {
      this.#free += 1
    } else {
      next()
    }
  }
}
