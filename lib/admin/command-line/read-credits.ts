import { InvalidAmountError, type Microcredits, parseCredits } from '#core/money/money.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { CommandValues } from './command-values.ts'

/** The amount that `--credits` says. @throws UsageError for anything that is none. */
export function readCredits(values: CommandValues): Microcredits {
  try {
    return parseCredits(values.required('credits'))
  } catch (error) {
    throw error instanceof InvalidAmountError ? new UsageError(`--credits ${error.message}`) : error
  }
}
