import { readPageLimit, readQueryText } from '#core/admin/page-query.ts'
import type { SummarizedTenant } from '#core/admin/summary.ts'
import { formatCredits } from '#core/money.ts'
import { allowedTenant } from '#lambdas/admin/operation.ts'
import { tenantView } from '#lambdas/admin/tenants.ts'
import { type AdminResponse, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { alertViewOf } from '#store/alerts/alert-settings.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { readBalance, readTenantRecord } from '#store/tenants/tenants.ts'
import { type ReadContext, unknownTenant, visibleTenant } from './read-context.ts'

/** GET /admin/v1/tenants: from the summary. */
export async function listTenants(event: ApiEvent, { summary, now }: ReadContext): Promise<AdminResponse> {
  const query = event.queryStringParameters ?? {}
  const limit = readPageLimit(query)
  const after = readQueryText(query, 'after')
  const { asOf, tenants } = await summary()
  const rest = after === undefined ? tenants : tenants.filter(({ id }) => id > after)
  const page = rest.slice(0, limit)
  const hasMore = rest.length > page.length
  return {
    body: {
      object: 'list',
      data: page.map((tenant) => summarizedTenantView(tenant, now())),
      has_more: hasMore,
      next: hasMore ? (page.at(-1)?.id ?? null) : null,
      as_of: Math.trunc(asOf / 1000),
    },
  }
}

function summarizedTenantView(tenant: SummarizedTenant, nowMilliseconds: number) {
  const { suspendedReason: reason, createdAt } = tenant
  const suspension = { at: 0, by: '', reason }
  return {
    ...tenantView({ ...tenant, suspension }, nowMilliseconds),
    created_at: Math.trunc(createdAt / 1000),
  }
}

/** GET /admin/v1/tenants/{tenant_id}: one request to the table. */
export async function getTenantDetail(event: ApiEvent, { table, now }: ReadContext): Promise<AdminResponse> {
  const asked = event.pathParameters?.tenant_id ?? ''
  const tenantId = allowedTenant(sessionOf(event), asked) ?? asked
  const [tenant, balance] = await table().readItems([tableKeys.tenant(tenantId), tableKeys.balance(tenantId)])
  if (tenant === undefined || balance === undefined) {
    throw unknownTenant(tenantId)
  }
  const record = visibleTenant(sessionOf(event), readTenantRecord(tenant))
  const { url, thresholds, lowBalance } = alertViewOf(tenant, balance)
  return {
    body: {
      ...tenantView({ ...record, ...readBalance(balance) }, now()),
      created_at: Math.trunc(record.createdAt / 1000),
      alerts: {
        thresholds,
        low_balance: lowBalance === undefined ? null : formatCredits(lowBalance),
        url_host: url === undefined ? null : new URL(url).host,
      },
    },
  }
}
