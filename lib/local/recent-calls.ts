import type { UpstreamErrorClass } from '#core/measures.ts'

/** How long a call counts. */
const SECONDS = 60

/** Neighbouring times of the distribution differ by a tenth, from a millisecond to more than an hour. */
const GROWTH = 1.1
const BINS = 160

type Second = { second: number; readonly bins: Uint32Array; readonly errors: Map<UpstreamErrorClass, number> }

/** What a channel did in the last minute. Times are exact to a tenth; null without a call. */
export type CallSummary = {
  readonly calls: number
  readonly errors: Readonly<Partial<Record<UpstreamErrorClass, number>>>
  readonly p50Milliseconds: number | null
  readonly p95Milliseconds: number | null
}

/** The calls of one channel in the last minute, in bounded memory however many there are. */
export class RecentCalls {
  readonly #seconds: readonly Second[] = Array.from({ length: SECONDS }, () => ({
    second: Number.NEGATIVE_INFINITY,
    bins: new Uint32Array(BINS),
    errors: new Map(),
  }))

  /** Adds a call, an error, or both. */
  add(
    {
      milliseconds,
      errorClass,
    }: { readonly milliseconds?: number; readonly errorClass?: UpstreamErrorClass | undefined },
    nowMilliseconds: number,
  ): void {
    const slot = this.#slotAt(Math.floor(nowMilliseconds / 1_000))
    if (milliseconds !== undefined) {
      const bin = Math.min(BINS - 1, Math.max(0, Math.round(Math.log(milliseconds) / Math.log(GROWTH))))
      slot.bins[bin] = (slot.bins[bin] ?? 0) + 1
    }
    if (errorClass !== undefined) {
      slot.errors.set(errorClass, (slot.errors.get(errorClass) ?? 0) + 1)
    }
  }

  summary(nowMilliseconds: number): CallSummary {
    const last = Math.floor(nowMilliseconds / 1_000)
    const recent = this.#seconds.filter(({ second }) => second > last - SECONDS && second <= last)
    const bins = Array.from({ length: BINS }, (_, bin) => recent.reduce((sum, slot) => sum + (slot.bins[bin] ?? 0), 0))
    const calls = bins.reduce((sum, count) => sum + count, 0)
    const errors: Partial<Record<UpstreamErrorClass, number>> = {}
    for (const [errorClass, count] of recent.flatMap((slot) => [...slot.errors])) {
      errors[errorClass] = (errors[errorClass] ?? 0) + count
    }
    return { calls, errors, p50Milliseconds: quantile(bins, calls, 0.5), p95Milliseconds: quantile(bins, calls, 0.95) }
  }

  #slotAt(second: number): Second {
    const slot = this.#seconds[((second % SECONDS) + SECONDS) % SECONDS]
    if (slot === undefined) {
      throw new RangeError('every second has a slot')
    }
    if (slot.second !== second) {
      slot.second = second
      slot.bins.fill(0)
      slot.errors.clear()
    }
    return slot
  }
}

/** The time that this share of the calls did not exceed. */
function quantile(bins: readonly number[], calls: number, share: number): number | null {
  let left = Math.ceil(calls * share)
  if (left === 0) {
    return null
  }
  const bin = bins.findIndex((count) => {
    left -= count
    return left <= 0
  })
  return Math.round(GROWTH ** bin)
}
