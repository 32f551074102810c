import type { MinuteFigures } from '#adapters/telemetry/channel-figures.ts'

const MINUTE_MILLISECONDS = 60_000

/** Minutes that a chart shows. */
const MINUTES = 30

type Fact = { readonly milliseconds?: number; readonly errorClass?: string | undefined }

/** Calls and errors of all channels in each of the last minutes. */
export class RecentMinutes {
  readonly #minutes = new Map<number, { calls: number; errors: number }>()

  /** Adds a call, an error, or both. */
  add({ milliseconds, errorClass }: Fact, nowMilliseconds: number): void {
    const minute = Math.floor(nowMilliseconds / MINUTE_MILLISECONDS)
    const figures = this.#minutes.get(minute) ?? { calls: 0, errors: 0 }
    this.#minutes.set(minute, {
      calls: figures.calls + (milliseconds === undefined ? 0 : 1),
      errors: figures.errors + (errorClass === undefined ? 0 : 1),
    })
    for (const old of this.#minutes.keys()) {
      if (old <= minute - MINUTES) {
        this.#minutes.delete(old)
      }
    }
  }

  /** Every minute until the current one, those without a call included, oldest first. */
  figures(nowMilliseconds: number): readonly MinuteFigures[] {
    const last = Math.floor(nowMilliseconds / MINUTE_MILLISECONDS)
    return Array.from({ length: MINUTES }, (_, index) => {
      const minute = last - MINUTES + 1 + index
      return { at: minute * MINUTE_MILLISECONDS, ...(this.#minutes.get(minute) ?? { calls: 0, errors: 0 }) }
    })
  }
}
