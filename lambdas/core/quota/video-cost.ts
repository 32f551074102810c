import { findVideoPrice, type VideoPriceTier } from '../catalogue/price-rows.ts'
import { divideHalfUp, type Microcredits, parseCredits } from '../money/money.ts'
import type { Prices } from './price-snapshot.ts'

/** Token prices are per million tokens. */
const TOKENS_PER_PRICE = 1_000_000n

/** No price row covers a tier. The start refuses a configuration with such a gap, so only an upstream's report can cause this. */
export class NoPriceError extends Error {
  override readonly name = 'NoPriceError'
}

/** A non-negative decimal number as an exact fraction: `13.24` is 1324 / 100. */
export type DecimalQuantity = { readonly numerator: bigint; readonly denominator: bigint }

/** Leaves room for sums of floating-point seconds, which have up to seventeen decimals (13.239999999999998). */
const DECIMAL = /^(\d{1,15})(?:\.(\d{1,20}))?$/

/** Reads a plain decimal string; undefined for signs, exponents, `Infinity`, `NaN` and implausibly long strings. */
export function parseQuantity(text: string | undefined): DecimalQuantity | undefined {
  const match = DECIMAL.exec(text ?? '')
  if (match === null) {
    return undefined
  }
  const [, whole = '0', fraction = ''] = match
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) }
}

/** An integer as a quantity. @throws RangeError for a number with a fraction. */
export function wholeQuantity(value: number): DecimalQuantity {
  return { numerator: BigInt(value), denominator: 1n }
}

/**
 * Quantity times price, rounded half up once at the end. `quantity` is completion tokens or seconds; billing per request
 * ignores it.
 * @throws NoPriceError if no row matches the tier.
 */
export function videoCost(snapshot: Prices, tier: VideoPriceTier, quantity: DecimalQuantity): Microcredits {
  const row = findVideoPrice(snapshot.prices, tier)
  if (row === undefined) {
    throw new NoPriceError(`no price for ${tier.resolution}, audio ${tier.audio}, video input ${tier.videoInput}`)
  }
  const price = parseCredits(row.price)
  switch (snapshot.billing) {
    case 'per_request':
      return price
    case 'per_second':
      return divideHalfUp(quantity.numerator * price, quantity.denominator) as Microcredits
    case 'token':
      return divideHalfUp(quantity.numerator * price, quantity.denominator * TOKENS_PER_PRICE) as Microcredits
    default:
      return snapshot.billing satisfies never
  }
}
