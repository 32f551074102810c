import { type Budget, budgetAt, formatBudgetLimit, periodEnd } from '#core/budgets.ts'
import { formatCredits } from '#core/money.ts'

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
