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

/** How one call of an upstream ended, for the bill of its request. */
export type CallEnd<Usage> = {
  /**
   * `whole`: the reply is complete. `broken`: a reply broke off. `abandoned`: a stream was not read to its end because the
   * client had left. `unread`: a whole reply was not for the same reason. `cut`: a reply was larger than what the gateway holds.
   */
  readonly how: 'whole' | 'broken' | 'abandoned' | 'unread' | 'cut'
  /** What the upstream reported, within the bounds of the model. */
  readonly usage: Usage | undefined
  /** Bytes that were generated, as far as they arrived. */
  readonly textBytes: number
}

/** What a request is billed. */
export type Priced = {
  readonly charge: Charge
  /** Whether any part of it is billed without a usage from an upstream. */
  readonly isEstimated: boolean
  /** For the log line of the request. */
  readonly facts?: Readonly<Record<string, number | undefined>> | undefined
}

/** A reported usage as it is billed, and what cannot be true of what was reported. */
export type CheckedUsage<Usage> = {
  readonly usage: Usage
  /** `above_bound`: more than the model can have used. `contradictory`: a part was above its whole. `reported` is for the log. */
  readonly doubts: readonly {
    readonly kind: 'above_bound' | 'contradictory'
    readonly reported: Readonly<Record<string, number>>
  }[]
}
