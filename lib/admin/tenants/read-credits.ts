import { InvalidAmountError, type Microcredits, microcredits, parseCredits, ZERO } from '#core/money/money.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { CommandValues } from '../command-line/command-values.ts'

/** The amount of `--credits`. @throws UsageError if it is not an amount. */
export function readCredits(values: CommandValues): Microcredits {
  return readAmount('credits', values.required('credits'))
}

/** The amount of `--amount`, which may be negative, such as `-5`. @throws UsageError if it is zero or not an amount. */
export function readSignedCredits(values: CommandValues): Microcredits {
  const text = values.required('amount')
  if (!/^-?\d+(\.\d{1,6})?$/.test(text)) {
    throw new UsageError(
      `--amount "${text}" is not an amount: write digits with at most six decimal places, such as "0.14" or "-5"`,
    )
  }
  const isNegative = text.startsWith('-')
  const amount = readAmount('amount', isNegative ? text.slice(1) : text)
  if (amount === ZERO) {
    throw new UsageError(`--amount ${text}: use an amount other than zero`)
  }
  return isNegative ? microcredits(-amount) : amount
}

/** The amount in the value of an option. @throws UsageError that names the option if it is not an amount. */
export function readAmount(option: string, text: string): Microcredits {
  try {
    return parseCredits(text)
  } catch (error) {
    throw error instanceof InvalidAmountError ? new UsageError(`--${option} ${error.message}`) : error
  }
}
