import {
  type ClientTraffic,
  FAILURE_MEASURES,
  FIRST_BYTE_MEASURE,
  type Measure,
  REQUEST_MEASURES,
} from '#core/measures.ts'
import { RecentCalls } from './recent-calls.ts'

const MINUTE_SECONDS = 60

/** Minutes that a chart shows. */
const MINUTES = 30

type Measured = Readonly<Partial<Record<Measure, number | undefined>>>
type Counts = { requests: number; errors: number }

/** What clients of this host did in the last half hour, in bounded memory. */
export class RecentTraffic {
  /** By Unix second; seconds without traffic are left out. */
  readonly #seconds = new Map<number, Counts>()
  readonly #firstBytes = new RecentCalls()

  /** Adds what was measured at once. */
  add(values: Measured, nowMilliseconds: number): void {
    const requests = sumOf(values, REQUEST_MEASURES)
    const errors = sumOf(values, FAILURE_MEASURES)
    const firstByte = values[FIRST_BYTE_MEASURE]
    if (firstByte !== undefined) {
      this.#firstBytes.add({ milliseconds: firstByte }, nowMilliseconds)
    }
    if (requests + errors === 0) {
      return
    }
    const second = Math.floor(nowMilliseconds / 1_000)
    const counts = this.#seconds.get(second) ?? { requests: 0, errors: 0 }
    this.#seconds.set(second, { requests: counts.requests + requests, errors: counts.errors + errors })
    for (const old of this.#seconds.keys()) {
      // The oldest come first.
      if (old > second - MINUTES * MINUTE_SECONDS) {
        break
      }
      this.#seconds.delete(old)
    }
  }

  /** The last sixty seconds, and every minute of the last half hour, the current one included. */
  traffic(nowMilliseconds: number): ClientTraffic {
    const now = Math.floor(nowMilliseconds / 1_000)
    const { p50Milliseconds, p95Milliseconds } = this.#firstBytes.summary(nowMilliseconds)
    const last = Math.floor(now / MINUTE_SECONDS)
    const minutes = Array.from({ length: MINUTES }, (_, index) => {
      const minute = last - MINUTES + 1 + index
      const from = minute * MINUTE_SECONDS
      return { at: from * 1_000, ...this.#sumBetween(from, from + MINUTE_SECONDS) }
    })
    return {
      minuteFrom: (now - MINUTE_SECONDS) * 1_000,
      ...this.#sumBetween(now - MINUTE_SECONDS + 1, now + 1),
      ...{ p50Milliseconds, p95Milliseconds, minutes },
    }
  }

  #sumBetween(from: number, before: number): Counts {
    const sum = { requests: 0, errors: 0 }
    for (const [second, { requests, errors }] of this.#seconds) {
      if (second >= from && second < before) {
        sum.requests += requests
        sum.errors += errors
      }
    }
    return sum
  }
}

function sumOf(values: Measured, names: readonly Measure[]): number {
  return names.reduce((sum, name) => sum + (values[name] ?? 0), 0)
}
