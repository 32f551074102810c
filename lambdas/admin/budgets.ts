import { type Budget, budgetAt, periodEnd } from '#core/budgets.ts'
import { formatCredits } from '#core/money.ts'
import { isoTime } from './operation.ts'

/** A budget as it counts at this time; null without one. Amounts in credits. */
export function budgetJson(budget: Budget | null | undefined, nowMilliseconds: number) {
  if (budget === null || budget === undefined) {
    return null
  }
  const { amount, period, spent, held, left } = budgetAt(budget, nowMilliseconds)
  const end = periodEnd(period)
  return {
    amount: formatCredits(amount),
    period: period.kind,
    spent: formatCredits(spent),
    held: formatCredits(held),
    left: formatCredits(left),
    resets_at: end === null ? null : isoTime(end * 1000),
  }
}
