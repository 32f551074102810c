import {
  type BudgetLimit,
  InvalidBudgetError,
  type PeriodKind,
  parseBudgetLimit,
  parsePeriodKind,
} from '#core/budgets.ts'
import { InvalidAmountError, type Microcredits, parseCredits } from '#core/money.ts'
import type { budgetJson } from '#lambdas/admin/budgets.ts'
import { UsageError } from '../terminal.ts'
import type { CommandValues } from './command.ts'

/** The value of `--budget`; null for `none`. @throws UsageError. */
export function readBudget(text: string): BudgetLimit | null {
  return text === 'none' ? null : orUsageError('budget', () => parseBudgetLimit(text))
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

type BudgetJson = NonNullable<ReturnType<typeof budgetJson>>

/** The limit of a budget, such as `5/month`. */
export function limitLine({ amount, period }: Pick<BudgetJson, 'amount' | 'period'>): string {
  return `${amount}/${period}`
}

/** A budget in one line, such as `5/month: 1.2 spent, 0.3 held, 3.5 left until 2026-12-01T00:00:00.000Z`. */
export function budgetLine(budget: BudgetJson): string {
  const until = budget.resets_at === null ? '' : ` until ${budget.resets_at}`
  return `${limitLine(budget)}: ${budget.spent} spent, ${budget.held} held, ${budget.left} left${until}`
}
