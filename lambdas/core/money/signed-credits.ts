import { InvalidAmountError, type Microcredits, microcredits, parseCredits, ZERO } from './money.ts'

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
