/**
 * Money is counted in integers: one *microcredit* is a millionth of a credit. Decimal strings exist only at the edges
 * (configuration, responses), and no amount is ever a floating-point number.
 */
declare const brand: unique symbol

/** An integer amount in millionths of a credit. */
export type Microcredits = bigint & { readonly [brand]: 'Microcredits' }

/** Millionths in one credit: the resolution of every amount (docs/decisions/0029). */
const MICROCREDITS_PER_CREDIT = 1_000_000n

/** The largest single amount: a billion credits. Keeps sums far below DynamoDB's 38 digits. */
export const AMOUNT_MICROCREDITS_MAX = 1_000_000_000_000_000n

/** No credits. */
export const ZERO = 0n as Microcredits

/** A string or a number is not an amount of credits. */
export class InvalidAmountError extends Error {
  override readonly name = 'InvalidAmountError'
}

/**
 * Brands an integer as an amount. Storage returns numbers or bigints.
 * @throws InvalidAmountError if the value is not an integer.
 */
export function microcredits(value: bigint | number): Microcredits {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new InvalidAmountError(`not a whole number of microcredits: ${value}`)
  }
  return BigInt(value) as Microcredits
}

/** Digits of {@link AMOUNT_MICROCREDITS_MAX} before the point. A longer string is refused before it is parsed. */
const WHOLE_DIGITS_MAX = 10

const DECIMAL_CREDITS = /^(\d+)(?:\.(\d{1,6}))?$/

/**
 * Reads a decimal string such as `"0.14"` (at most six places, not negative).
 * @throws InvalidAmountError if the string has another form or is larger than {@link AMOUNT_MICROCREDITS_MAX}.
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

/** Formats an amount as a decimal string in credits without trailing zeros: `140000n` becomes `"0.14"`. */
export function formatCredits(amount: Microcredits): string {
  const sign = amount < 0n ? '-' : ''
  const magnitude = amount < 0n ? -amount : amount
  const fraction = (magnitude % MICROCREDITS_PER_CREDIT).toString().padStart(6, '0').replace(/0+$/, '')
  return `${sign}${magnitude / MICROCREDITS_PER_CREDIT}${fraction === '' ? '' : `.${fraction}`}`
}

/** Divides two non-negative integers and rounds half up. A price formula rounds once, at its end. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator)
}

/** Raises the cost of a priced model to at least one microcredit, so that usage that rounds to zero is not free. */
export function atLeastOne(cost: Microcredits, isFree: boolean): Microcredits {
  return isFree || cost > 0n ? cost : (1n as Microcredits)
}

/** Reads a decimal string above zero. @throws InvalidAmountError as {@link parseCredits}, and for zero. */
export function parsePositiveCredits(text: string): Microcredits {
  const amount = parseCredits(text)
  if (amount === ZERO) {
    throw new InvalidAmountError(`${text}: use an amount above zero`)
  }
  return amount
}

const SIGNED_DECIMAL = /^-?\d+(\.\d{1,6})?$/

/**
 * Reads a decimal string with an optional sign, such as `"-5"` or `"0.25"`.
 * @throws InvalidAmountError if the string has another form, is zero, or is larger than the largest amount.
 */
export function parseSignedCredits(text: string): Microcredits {
  if (!SIGNED_DECIMAL.test(text)) {
    throw new InvalidAmountError(
      `"${text}" is not an amount: write digits with at most six decimal places, such as "0.14" or "-5"`,
    )
  }
  const isNegative = text.startsWith('-')
  const amount = parseCredits(isNegative ? text.slice(1) : text)
  if (amount === ZERO) {
    throw new InvalidAmountError(`${text}: use an amount other than zero`)
  }
  return isNegative ? microcredits(-amount) : amount
}

/** Why a reservation was refused. */
export type Shortfall = {
  /** The amount to reserve. */
  readonly needed: Microcredits
  /** The available balance; negative after an overdraft. */
  readonly available: Microcredits
  /** What the client can do, such as `set max_tokens to at most 12`. */
  readonly advice?: string | undefined
}

/** Explains a shortfall to a person. */
export function shortfallMessage({ needed, available, advice }: Shortfall): string {
  const amounts = `${formatCredits(needed)} credits are needed, but ${formatCredits(available)} are available`
  return advice === undefined ? amounts : `${amounts}; ${advice}`
}

/**
 * The largest count whose cost the balance covers; 0 if it does not cover one.
 * @param costOf the cost of a count; it must not decrease with the count.
 */
export function affordableCount(
  available: Microcredits,
  { most, costOf }: { readonly most: number; readonly costOf: (count: number) => Microcredits },
): number {
  let affordable = 0
  let excessive = most + 1
  while (excessive - affordable > 1) {
    const middle = Math.floor((affordable + excessive) / 2)
    if (costOf(middle) <= available) {
      affordable = middle
    } else {
      excessive = middle
    }
  }
  return affordable
}

type Output = {
  readonly model: { readonly billing: 'token' | 'per_request' }
  /** The field by which the client limits the output. */
  readonly name: string
  /** The refused value of that field. */
  readonly most: number
  /** Whether the prompt has images. */
  readonly hasImages: boolean
  /** Whether the request asks for several outputs. */
  readonly hasSeveral: boolean
  readonly costOf: (outputTokensMax: number) => Microcredits
}

/** Advice for a chat or a completion that the balance does not cover; undefined for a fixed price. */
export function adviseOnOutput(
  available: Microcredits,
  { model, name, most, hasImages, hasSeveral, costOf }: Output,
): string | undefined {
  if (model.billing === 'per_request') {
    return undefined
  }
  const tokens = affordableCount(available, { most, costOf })
  const images = hasImages ? ' (fewer images, or low detail)' : ''
  const completions = hasSeveral ? ' or request fewer completions' : ''
  return tokens > 0
    ? `set ${name} to at most ${tokens}`
    : `no output tokens are affordable: make the prompt smaller${images}${completions}`
}
