import {
  type Budget,
  type BudgetLimit,
  budgetAt,
  formatBudgetLimit,
  InvalidBudgetError,
  type PeriodKind,
  parseBudgetLimit,
  parsePeriodKind,
  periodEnd,
} from '#core/budgets.ts'
import { formatCredits, InvalidAmountError, type Microcredits, parseCredits } from '#core/money.ts'
import { UsageError } from '../terminal.ts'
import type { CommandValues } from './command.ts'

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

/** A budget as JSON output shows it, as it counts at this time; null without one. Amounts in credits. */
export function budgetJson(budget: Budget | null, nowMilliseconds: number) {
  if (budget === null) {
    return null
  }
  const { amount, period, spent, held, left } = budgetAt(budget, nowMilliseconds)
  return {
    amount: formatCredits(amount),
    period: period.kind,
    spent: formatCredits(spent),
    held: formatCredits(held),
    left: formatCredits(left),
    resets_at: endOf(budgetAt(budget, nowMilliseconds)),
  }
}

/** The same in one line, such as `5/month: 1.2 spent, 0.3 held, 3.5 left until 2026-12-01T00:00:00.000Z`. */
export function budgetText(budget: Budget, nowMilliseconds: number): string {
  const current = budgetAt(budget, nowMilliseconds)
  const [spent, held, left] = [current.spent, current.held, current.left].map(formatCredits)
  const end = endOf(current)
  const until = end === null ? '' : ` until ${end}`
  const limit = formatBudgetLimit({ amount: current.amount, kind: current.period.kind })
  return `${limit}: ${spent} spent, ${held} held, ${left} left${until}`
}

function endOf({ period }: Budget): string | null {
  const end = periodEnd(period)
  return end === null ? null : new Date(end * 1000).toISOString()
}
