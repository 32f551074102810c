import type { Budget, Overview } from '../../api/admin-types.ts'
import { Amount } from '../../components/amount.tsx'
import { BudgetBar } from '../../components/budget-bar.tsx'
import { Stat } from '../../components/stat.tsx'
import { percentOf, sumAmounts } from '../../core/amount.ts'

/** The numbers of the overview. */
export function OverviewStats({ overview }: { readonly overview: Overview }) {
  const { spend, balance, traffic, open_jobs, tenants } = overview
  return (
    <dl class="stats">
      <Stat title="Spent today" note="credits, UTC day">
        <Amount value={spend.today} isRounded />
      </Stat>
      <Stat title="Spent this month" note="credits, UTC month">
        <Amount value={spend.month} isRounded />
      </Stat>
      {spend.budget === null ? null : <BudgetStat budget={spend.budget} />}
      {balance === null ? null : (
        <Stat
          title="Available"
          note={
            <>
              held <Amount value={balance.held} isRounded />
            </>
          }
        >
          <Amount value={balance.available} isRounded />
        </Stat>
      )}
      <Stat title="Open jobs">{open_jobs}</Stat>
      {traffic === null ? null : <Traffic traffic={traffic} />}
      {tenants === null ? null : <Stat title="Tenants">{tenants}</Stat>}
    </dl>
  )
}

function BudgetStat({ budget }: { readonly budget: Budget }) {
  const period = budget.period === 'total' ? 'in all' : `of the ${budget.period}`
  return (
    <Stat title={`Budget ${period}`} note={<BudgetBar budget={budget} />}>
      {percentOf(sumAmounts([budget.spent, budget.held]), budget.amount)} %
    </Stat>
  )
}

/** What clients of all tenants do, and which minute that is. */
function Traffic({ traffic }: { readonly traffic: NonNullable<Overview['traffic']> }) {
  const { requests_per_minute, errors_per_minute, first_byte_ms } = traffic
  return (
    <>
      <Stat title="Requests a minute" note={`${errors_per_minute} failed`}>
        {requests_per_minute}
      </Stat>
      <Stat title="First byte, p50 / p95" note="of relayed requests in the minute">
        {first_byte_ms === null ? '–' : `${Math.round(first_byte_ms.p50)} / ${Math.round(first_byte_ms.p95)} ms`}
      </Stat>
    </>
  )
}
