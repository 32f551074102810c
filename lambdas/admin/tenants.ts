import { balanceAmounts, budgetView } from '#core/api/balance.ts'
import type { TenantListing } from '#store/tenants/tenants.ts'

/** A tenant as the admin API shows it, without its callback secret. */
export function tenantView(tenant: TenantListing, nowMilliseconds: number) {
  const { id, name, state, suspension, balance, openJobs, budget } = tenant
  return {
    id,
    name,
    state,
    suspended_reason: suspension?.reason ?? null,
    balance: balanceAmounts(balance),
    open_jobs: openJobs.count,
    open_jobs_max: openJobs.max,
    budget: budgetView(budget, nowMilliseconds),
  }
}
