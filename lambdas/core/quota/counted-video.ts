import type { VideoPriceTier } from '../catalogue/price-rows.ts'
import { divideHalfUp } from '../money/money.ts'
import { type CountedUsage, countedUsage } from './counted-usage.ts'
import type { PriceSnapshot } from './price-snapshot.ts'
import { type DecimalQuantity, parseQuantity } from './video-cost.ts'
import { anyVideoQuantityMax } from './video-quantity.ts'

type CountedVideo = {
  readonly billing: PriceSnapshot['billing']
  /** What is billed; undefined where the estimate is billed. */
  readonly quantity: DecimalQuantity | undefined
  /** The length of the video itself; undefined where nobody knows it. */
  readonly durationSeconds: string | undefined
  readonly requested: Pick<VideoPriceTier, 'videoInput'>
}

/**
 * The counts of a settled video: billed seconds, or the length of a video that is billed in another way; and billed tokens. An
 * unknown count is zero. Both are rounded half up, and the length is at most the longest that any model makes.
 */
export function countedVideo({ billing, quantity, durationSeconds, requested }: CountedVideo): CountedUsage {
  const billedTokens = billing === 'token' ? quantity : undefined
  const seconds = billing === 'per_second' ? quantity : parseQuantity(durationSeconds)
  const millisecondsMax = anyVideoQuantityMax('per_second', requested) * 1_000
  return countedUsage({
    outputTokens: billedTokens === undefined ? 0 : wholeCount(billedTokens, 1n),
    videoMilliseconds: seconds === undefined ? 0 : Math.min(wholeCount(seconds, 1_000n), millisecondsMax),
  })
}

function wholeCount({ numerator, denominator }: DecimalQuantity, perUnit: bigint): number {
  return Number(divideHalfUp(numerator * perUnit, denominator))
}
