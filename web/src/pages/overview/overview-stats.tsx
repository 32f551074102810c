import type { Overview } from '../../api/admin-types.ts'
import { Amount } from '../../components/amount.tsx'
import { BudgetBar } from '../../components/budget-bar.tsx'
import { Stat } from '../../components/stat.tsx'

/** The numbers of the overview. */
export function OverviewStats({ overview }: { readonly overview: Overview }) {
  const { spend, balance, traffic, open_jobs, tenants } = overview
  return (
    <dl class="stats">
      <Stat title="Spent today" note="credits, UTC day">
        <Amount value={spend.today} />
      </Stat>
      <Stat title="Spent this month" note={spend.budget === null ? 'credits' : <BudgetBar budget={spend.budget} />}>
        <Amount value={spend.month} />
      </Stat>
      {balance === null ? null : (
        <Stat
          title="Available"
          note={
            <>
              held <Amount value={balance.held} />
            </>
          }
        >
          <Amount value={balance.available} />
        </Stat>
      )}
      <Stat title="Open jobs">{open_jobs}</Stat>
      {traffic === null ? null : <Traffic traffic={traffic} />}
      {tenants === null ? null : <Stat title="Tenants">{tenants}</Stat>}
    </dl>
  )
}

function Traffic({ traffic }: { readonly traffic: NonNullable<Overview['traffic']> }) {
  const { requests_per_minute, errors_per_minute, first_byte_ms } = traffic
  return (
    <>
      <Stat title="Upstream calls a minute" note={`${errors_per_minute} failed`}>
        {requests_per_minute}
      </Stat>
      <Stat
        title="First byte"
        note={first_byte_ms === null ? 'no call in the minute' : `p95 ${Math.round(first_byte_ms.p95)} ms`}
      >
        {first_byte_ms === null ? '–' : `${Math.round(first_byte_ms.p50)} ms`}
      </Stat>
    </>
  )
}
