import { InvalidAmountError, type Microcredits, parseCredits } from '#core/money/money.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { CommandValues } from '../command-line/command-values.ts'

/** The amount of `--credits`. @throws UsageError if it is not an amount. */
export function readCredits(values: CommandValues): Microcredits {
  try {
    return parseCredits(values.required('credits'))
  } catch (error) {
    throw error instanceof InvalidAmountError ? new UsageError(`--credits ${error.message}`) : error
  }
}
