import type { Budget } from '../api/admin-types.ts'
import { percentOf, sumAmounts } from '../core/amount.ts'
import { Amount, Nothing } from './amount.tsx'

/** From here on a budget needs attention. */
const NEAR_PERCENT = 80

/** What of a budget is spent and held, as numbers and as a bar. */
export function BudgetBar({ budget }: { readonly budget: Budget | null }) {
  if (budget === null) {
    return <Nothing />
  }
  const used = sumAmounts([budget.spent, budget.held])
  const percent = percentOf(used, budget.amount)
  const tone = percent >= 100 ? 'bad' : percent >= NEAR_PERCENT ? 'warn' : 'calm'
  return (
    <span class="budget">
      <span class="budget-numbers">
        <Amount value={used} isRounded /> of <Amount value={budget.amount} isRounded />{' '}
        {budget.period === 'total' ? 'in all' : `a ${budget.period}`}
      </span>
      <svg class={`budget-bar budget-${tone}`} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect class="budget-track" width="100" height="4" />
        <rect class="budget-used" width={Math.min(percent, 100)} height="4" />
      </svg>
      <span class="unseen">{percent} % used</span>
    </span>
  )
}
