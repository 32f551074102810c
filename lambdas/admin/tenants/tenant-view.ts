import type { TenantListing } from '#adapters/store/accounts/tenant-store.ts'
import { budgetView } from '#core/money/balance-view.ts'
import { formatCredits } from '#core/money/money.ts'

/** A tenant as the admin API shows it, without its callback secret. */
export function tenantView(tenant: TenantListing, nowMilliseconds: number) {
  const { id, name, state, suspension, balance, openJobs, budget } = tenant
  return {
    id,
    name,
    state,
    suspended_reason: suspension?.reason ?? null,
    balance: {
      available: formatCredits(balance.available),
      held: formatCredits(balance.held),
      spent: formatCredits(balance.spent),
      granted: formatCredits(balance.granted),
    },
    open_jobs: openJobs.count,
    open_jobs_max: openJobs.max,
    budget: budgetView(budget, nowMilliseconds),
  }
}
