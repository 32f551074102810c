import { InvalidAmountError, type Microcredits, parseCredits, parseSignedCredits } from '#core/money.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { CommandValues } from '../command-line/command-values.ts'

/** The amount of `--credits`. @throws UsageError if it is not an amount. */
export function readCredits(values: CommandValues): Microcredits {
  return readAmount('credits', values.required('credits'))
}

/** The amount of `--amount`, which may be negative, such as `-5`. @throws UsageError if it is zero or not an amount. */
export function readSignedCredits(values: CommandValues): Microcredits {
  return readAmount('amount', values.required('amount'), parseSignedCredits)
}

/** The amount in the value of an option. @throws UsageError that names the option if it is not an amount. */
export function readAmount(option: string, text: string, parse = parseCredits): Microcredits {
  try {
    return parse(text)
  } catch (error) {
    throw error instanceof InvalidAmountError ? new UsageError(`--${option} ${error.message}`) : error
  }
}
