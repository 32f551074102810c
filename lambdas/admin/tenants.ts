import { readPageLimit, readQueryText } from '#core/admin/page-query.ts'
import type { Session } from '#core/admin/session.ts'
import { balanceAmounts } from '#core/api/balance.ts'
import { formatCredits } from '#core/money.ts'
import { isOfTenant } from '#core/roles.ts'
import { type AlertView, alertViewOf } from '#store/alerts/alert-settings.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { noTenant, readBalance, readTenantRecord, type Suspension, type TenantListing } from '#store/tenants/tenants.ts'
import { budgetJson } from './budgets.ts'
import { allowedTenant, defineOperation, isoTime } from './operation.ts'

/** A tenant as operations show it, without its callback secret. */
export function tenantJson(tenant: TenantListing, nowMilliseconds: number) {
  const { id, name, state, suspension, createdAt, balance, openJobs, budget, users } = tenant
  return {
    ...{ id, name, state },
    ...balanceAmounts(balance),
    open_jobs: openJobs.count,
    open_jobs_max: openJobs.max,
    budget: budgetJson(budget, nowMilliseconds),
    created_at: isoTime(createdAt),
    ...usersOf(users),
    ...suspensionOf(suspension),
  }
}

/** A tenant whose users are not counted has no `users`. */
function usersOf(users: TenantListing['users']): { readonly users?: TenantListing['users'] } {
  return users === undefined ? {} : { users }
}

type SuspensionJson = { readonly since: string; readonly by: string; readonly reason: string | null }

/** A tenant that is not suspended has no `suspension`. */
function suspensionOf(suspension: Suspension | null): { readonly suspension?: SuspensionJson | undefined } {
  if (suspension === null) {
    return {}
  }
  const { at, by, reason } = suspension
  return { suspension: { since: isoTime(at), by, reason } }
}

/**
 * A tenant as a session may see it: by whom and why it is suspended is a note of operators. A suspension ends the sessions of API keys one
 * key after the other, so one of them may see that it begins.
 */
export function visibleTenant<Named extends { readonly suspension: Suspension | null }>(
  session: Session | undefined,
  tenant: Named,
): Named {
  return session && isOfTenant(session.role) ? { ...tenant, suspension: null } : tenant
}

/** How a tenant is alerted. The path of the url may hold a secret. */
export function alertsJson({ url, thresholds, lowBalance }: AlertView) {
  return {
    thresholds,
    low_balance: lowBalance === undefined ? null : formatCredits(lowBalance),
    url_host: url === undefined ? null : new URL(url).host,
  }
}

/** From the summary that is written each minute; the command line reads every tenant. */
export const listTenants = defineOperation({
  name: 'list-tenants',
  method: 'GET',
  path: '/admin/v1/tenants',
  access: 'finance',
  query: { after: readQueryText, limit: readPageLimit },
  async run({ after = '', limit }, { tenants: readTenants, nowMilliseconds }) {
    const { asOf, tenants } = await readTenants()
    const rest = tenants.filter(({ id }) => id > after)
    const page = rest.slice(0, limit)
    const hasMore = rest.length > page.length
    return {
      tenants: page.map((tenant) => tenantJson(tenant, nowMilliseconds())),
      has_more: hasMore,
      next: hasMore ? (page.at(-1)?.id ?? null) : null,
      as_of: isoTime(asOf),
    }
  },
})

/** By one request to the table. */
export const getTenant = defineOperation({
  name: 'get-tenant',
  method: 'GET',
  path: '/admin/v1/tenants/{tenant_id}',
  access: 'everyone',
  async run({ tenant_id: asked }, { table, session, nowMilliseconds }) {
    const tenantId = allowedTenant(session, asked) ?? asked
    const [tenant, balance] = await table.readItems([tableKeys.tenant(tenantId), tableKeys.balance(tenantId)])
    if (tenant === undefined || balance === undefined) {
      throw noTenant(tenantId)
    }
    const record = visibleTenant(session, readTenantRecord(tenant))
    const json = tenantJson({ ...record, ...readBalance(balance) }, nowMilliseconds())
    return { ...json, alerts: alertsJson(alertViewOf(tenant, balance)) }
  },
})

/** The operations of tenants that read. */
export const TENANT_READS = [listTenants, getTenant] as const
