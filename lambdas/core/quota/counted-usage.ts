import type { Microcredits } from '../money/money.ts'

/**
 * What a settlement bills, in counts that never overlap. Every count is a non-negative integer; a count that does not apply
 * is zero. After a settlement by estimate, the counts are estimates too.
 */
export type CountedUsage = {
  /** Input that the upstream processed anew: neither read from a cache nor written to one. */
  readonly inputTokens: number
  /** Input that the upstream read from a cache. */
  readonly cachedInputTokens: number
  /** Input that the upstream wrote to a cache, for any time. */
  readonly cacheWriteTokens: number
  /** Reasoning included. Of a video that is billed by tokens: its tokens. */
  readonly outputTokens: number
  /** Billed length of a video; of a video that is not billed by its length, the length. */
  readonly videoMilliseconds: number
  readonly images: number
}

/** No usage at all. */
const NONE: CountedUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  videoMilliseconds: 0,
  images: 0,
}

/** Counts with zero for every part that is left out. */
export function countedUsage(parts: Partial<CountedUsage>): CountedUsage {
  return { ...NONE, ...parts }
}

/** The counts that are not zero, as ledger rows keep them; {@link countedUsage} reads them again. */
export function nonZeroCounts(usage: CountedUsage): Partial<CountedUsage> {
  return Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0))
}

/** An amount, and the usage that it is the price of. */
export type Charge = { readonly amount: Microcredits; readonly usage: CountedUsage }
