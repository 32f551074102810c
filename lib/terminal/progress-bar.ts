const WIDTH = 30

/** Redraws one bar on a terminal; to a file or a pipe, writes a line for each new status. */
export class ProgressBar {
  readonly #startedAt = Date.now()
  readonly #expectedSeconds: number
  #lastStatus = ''

  /** @param expectedSeconds an estimate: no upstream reports a percentage. */
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
