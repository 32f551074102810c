import { getTenant, type Tenant, type TenantListing } from '#adapters/store/accounts/tenant-store.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { balanceAmounts } from '#core/api/balance.ts'
import { budgetJson, budgetText } from '../budgets/describe-budget.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'

/** The secret signs callbacks in the operator's name, so it is shown only when it was created or requested. */
export function describeTenant(tenant: Tenant, { withSecret }: { readonly withSecret: boolean }): Answer {
  const { id, name, webhookSecret, balance, openJobs, budget } = tenant
  const now = Date.now()
  const json = {
    id,
    name,
    ...balanceAmounts(balance),
    ...(withSecret ? { webhook_secret: webhookSecret } : {}),
  }
  const more = { state: stateText(tenant), open_jobs: openJobsText(openJobs.count, openJobs.max) }
  const limited = budget === null ? {} : { budget: budgetText(budget, now) }
  return {
    json: {
      ...json,
      state: tenant.state,
      open_jobs: openJobs.count,
      open_jobs_max: openJobs.max,
      budget: budgetJson(budget, now),
      ...suspensionOf(tenant),
    },
    text: formatTable([], Object.entries({ ...json, ...more, ...limited })),
  }
}

/** A tenant after a change of its state or limits. */
export async function describeChangedTenant(table: Table, tenantId: string): Promise<Answer> {
  const tenant = await getTenant(table, tenantId)
  const json = tenantRow(tenant)
  const { open_jobs, open_jobs_max, suspension: _, ...row } = json
  const text = { ...row, state: stateText(tenant), open_jobs: openJobsText(open_jobs, open_jobs_max) }
  return { json, text: formatTable([], Object.entries(text)) }
}

/** A tenant as one object of a list. A tenant that is not suspended has no `suspension`. */
export function tenantRow(tenant: TenantListing) {
  const { id, name, state, balance, openJobs } = tenant
  return {
    id,
    name,
    state,
    ...balanceAmounts(balance),
    open_jobs: openJobs.count,
    open_jobs_max: openJobs.max,
    ...suspensionOf(tenant),
  }
}

type Suspendable = Pick<TenantListing, 'state' | 'suspension'>
type ShownSuspension = { readonly since: string; readonly by: string; readonly reason: string | null }

function suspensionOf({ suspension }: Suspendable): { readonly suspension?: ShownSuspension } {
  if (suspension === null) {
    return {}
  }
  const { at, by, reason } = suspension
  return { suspension: { since: new Date(at).toISOString(), by, reason } }
}

/** Such as `suspended since 2026-11-22T10:00:00.000Z by alice@laptop: unpaid`. */
export function stateText(tenant: Suspendable): string {
  const { suspension } = suspensionOf(tenant)
  if (suspension === undefined) {
    return tenant.state
  }
  const { since, by, reason } = suspension
  return `${tenant.state} since ${since} by ${by}${reason === null ? '' : `: ${reason}`}`
}

/** Such as `3 of 10`. */
export function openJobsText(count: number, max: number | null): string {
  return max === null ? String(count) : `${count} of ${max}`
}
