/**
 * Money is counted in integers: one *microcredit* is a millionth of a credit.
 * Decimal strings exist only at the edges (configuration, answers); floating point never touches an amount.
 */
declare const brand: unique symbol

/** An integer amount in millionths of a credit. */
export type Microcredits = bigint & { readonly [brand]: 'Microcredits' }

/** Millionths in one credit: the resolution of every amount (docs/decisions/0027). */
const MICROCREDITS_PER_CREDIT = 1_000_000n

/** The largest single amount that is accepted anywhere: a thousand million credits. Keeps sums far inside DynamoDB's 38 digits. */
export const AMOUNT_MICROCREDITS_MAX = 1_000_000_000_000_000n

/** No credits. */
export const ZERO = 0n as Microcredits

/** Thrown for text or numbers that are not an amount of credits. */
export class InvalidAmountError extends Error {
  override readonly name = 'InvalidAmountError'
}

/**
 * Brands an integer as an amount. Storage hands back numbers or bigints.
 * @throws InvalidAmountError when the value is not an integer.
 */
export function microcredits(value: bigint | number): Microcredits {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new InvalidAmountError(`not a whole number of microcredits: ${value}`)
  }
  return BigInt(value) as Microcredits
}

/** Digits of {@link AMOUNT_MICROCREDITS_MAX} before the point: longer texts are not even counted. */
const WHOLE_DIGITS_MAX = 10

const DECIMAL_CREDITS = /^(\d+)(?:\.(\d{1,6}))?$/

/**
 * Reads a decimal string such as `"0.14"` (at most six places, not negative).
 * @throws InvalidAmountError when the text is anything else or larger than {@link AMOUNT_MICROCREDITS_MAX}.
 */
export function parseCredits(text: string): Microcredits {
  const match = DECIMAL_CREDITS.exec(text)
  if (match === null) {
    throw new InvalidAmountError(
      `"${text}" is not an amount: write digits with at most six decimal places, such as "0.14"`,
    )
  }
  const [, whole = '0', fraction = ''] = match
  const isCountable = whole.length <= WHOLE_DIGITS_MAX
  const amount = isCountable ? BigInt(whole) * MICROCREDITS_PER_CREDIT + BigInt(fraction.padEnd(6, '0')) : undefined
  if (amount === undefined || amount > AMOUNT_MICROCREDITS_MAX) {
    throw new InvalidAmountError(
      `"${text}" is too large: the most is ${formatCredits(AMOUNT_MICROCREDITS_MAX as Microcredits)}`,
    )
  }
  return amount as Microcredits
}

/** Writes an amount as a decimal string in credits, without trailing zeros: `140000n` is `"0.14"`. */
export function formatCredits(amount: Microcredits): string {
  const sign = amount < 0n ? '-' : ''
  const magnitude = amount < 0n ? -amount : amount
  const fraction = (magnitude % MICROCREDITS_PER_CREDIT).toString().padStart(6, '0').replace(/0+$/, '')
  return `${sign}${magnitude / MICROCREDITS_PER_CREDIT}${fraction === '' ? '' : `.${fraction}`}`
}

/** Divides two non-negative integers, rounding half up: the one rounding at the end of a price formula. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator)
}

/**
 * What a use of a priced model costs: a millionth at least, however little was used, so that what rounds to nothing is not
 * free for ever.
 */
export function atLeastOne(cost: Microcredits, isFree: boolean): Microcredits {
  return isFree || cost > 0n ? cost : (1n as Microcredits)
}
