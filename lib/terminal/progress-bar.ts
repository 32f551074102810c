const WIDTH = 30

/** Draws one bar on a terminal, over and over; into a file or a pipe it writes a line per new status. */
export class ProgressBar {
  readonly #startedAt = Date.now()
  readonly #expectedSeconds: number
  #lastStatus = ''

  /** @param expectedSeconds roughly: the bar is a guess, as every bar without a percentage is. */
  constructor(expectedSeconds: number) {
    this.#expectedSeconds = expectedSeconds
  }

  draw(status: string): void {
    const elapsed = (Date.now() - this.#startedAt) / 1000
    const share = status === 'succeeded' ? 1 : Math.min(0.95, elapsed / this.#expectedSeconds)
    const filled = Math.round(share * WIDTH)
    const line = `  [${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}] ${elapsed.toFixed(1).padStart(5)} s  ${status}`
    if (process.stdout.isTTY) {
      process.stdout.write(`\r${line}   `)
    } else if (status !== this.#lastStatus) {
      process.stdout.write(`${line}\n`)
    }
    this.#lastStatus = status
  }

  end(): void {
    if (process.stdout.isTTY) {
      process.stdout.write('\n')
    }
  }
}
