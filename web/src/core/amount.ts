/**
 * Amounts of credits as the API writes them: decimal strings with at most six places. They are added as integers of millionths and never
 * become floating-point numbers.
 */
const MILLIONTHS = 1_000_000n

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d{1,6}))?$/

/** The millionths of a decimal string; undefined for anything else. */
export function parseAmount(text: string): bigint | undefined {
  const match = DECIMAL.exec(text.trim())
  if (match === null) {
    return undefined
  }
  const [, sign, whole = '0', fraction = ''] = match
  const millionths = BigInt(whole) * MILLIONTHS + BigInt(fraction.padEnd(6, '0'))
  return sign === '-' ? -millionths : millionths
}

/** The decimal string of millionths without trailing zeros, as the API writes amounts. */
export function amountString(millionths: bigint): string {
  const { sign, whole, fraction } = partsOf(millionths)
  const digits = fraction.replace(/0+$/, '')
  return `${sign}${whole}${digits === '' ? '' : `.${digits}`}`
}

/** The sum of decimal strings; anything that is not an amount counts as zero. */
export function sumAmounts(amounts: Iterable<string | null | undefined>): string {
  let sum = 0n
  for (const amount of amounts) {
    sum += parseAmount(amount ?? '') ?? 0n
  }
  return amountString(sum)
}

/**
 * An amount to read: every digit that is not a trailing zero, at least two decimal places and groups of thousands, such as `1,234.50` or
 * `0.000412`. What is not an amount is returned unchanged.
 */
export function readableAmount(amount: string, { isSigned = false } = {}): string {
  const millionths = parseAmount(amount)
  if (millionths === undefined) {
    return amount
  }
  const { sign, whole, fraction } = partsOf(millionths)
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  const plus = isSigned && millionths > 0n ? '+' : ''
  return `${sign === '-' ? '−' : plus}${grouped}.${fraction.replace(/0{1,4}$/, '')}`
}

const HUNDREDTH = MILLIONTHS / 100n

/** An amount to take in at a glance, such as `392.91`: from one credit on to the nearest hundredth, below with every digit. */
export function roundedAmount(amount: string, options: { readonly isSigned?: boolean } = {}): string {
  const millionths = parseAmount(amount) ?? 0n
  const magnitude = millionths < 0n ? -millionths : millionths
  const rounded = ((magnitude + HUNDREDTH / 2n) / HUNDREDTH) * HUNDREDTH
  const shown = magnitude < MILLIONTHS ? amount : amountString(millionths < 0n ? -rounded : rounded)
  return readableAmount(shown, options)
}

/** An amount with its unit, exact: `1 credit`, `0.5 credits`. */
export function creditWords(amount: string): string {
  return `${amount} ${parseAmount(amount) === MILLIONTHS ? 'credit' : 'credits'}`
}

/** The share of a whole in percent, rounded down, such as 80 for 8 of 10; 0 if the whole is not positive. */
export function percentOf(part: string, whole: string): number {
  const [numerator = 0n, denominator = 0n] = [parseAmount(part), parseAmount(whole)]
  return denominator <= 0n ? 0 : Number((numerator * 100n) / denominator)
}

/** Orders two decimal strings by their values, for a sort. */
export function compareAmounts(left: string, right: string): number {
  const difference = (parseAmount(left) ?? 0n) - (parseAmount(right) ?? 0n)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** An amount as a number of pixels or of a chart's axis, where the exact value is not needed. */
export function approximateAmount(amount: string): number {
  return Number(parseAmount(amount) ?? 0n) / Number(MILLIONTHS)
}

function partsOf(millionths: bigint) {
  const magnitude = millionths < 0n ? -millionths : millionths
  return {
    sign: millionths < 0n ? '-' : '',
    whole: (magnitude / MILLIONTHS).toString(),
    fraction: (magnitude % MILLIONTHS).toString().padStart(6, '0'),
  }
}
