import {
  type BudgetLimit,
  InvalidBudgetError,
  type PeriodKind,
  parseBudgetLimit,
  parsePeriodKind,
} from '#core/budgets.ts'
import { InvalidAmountError, type Microcredits, parseCredits } from '#core/money.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { CommandValues } from '../command-line/command-values.ts'

/** The value of `--budget`; undefined if it was not given, null for `none`. @throws UsageError. */
export function readBudget(values: CommandValues): BudgetLimit | null | undefined {
  const text = values.text('budget')
  if (text === undefined || text === 'none') {
    return text === undefined ? undefined : null
  }
  return orUsageError('budget', () => parseBudgetLimit(text))
}

/** The limit of `--amount` and `--period`; null for `--clear`. @throws UsageError for anything else. */
export function readLimit(values: CommandValues): BudgetLimit | null {
  const [amount, period] = [values.text('amount'), values.text('period')]
  if (values.has('clear')) {
    if (amount !== undefined || period !== undefined) {
      throw new UsageError('--clear ends the budget: omit --amount and --period')
    }
    return null
  }
  if (amount === undefined || period === undefined) {
    throw new UsageError('use --amount and --period, or --clear')
  }
  return {
    amount: orUsageError<Microcredits>('amount', () => parseCredits(amount)),
    kind: orUsageError<PeriodKind>('period', () => parsePeriodKind(period)),
  }
}

function orUsageError<Value>(option: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    const isExplained = error instanceof InvalidAmountError || error instanceof InvalidBudgetError
    throw isExplained ? new UsageError(`--${option} ${error.message}`) : error
  }
}
