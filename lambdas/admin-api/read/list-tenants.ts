import { readPageLimit, readQueryText } from '#core/admin/page-query.ts'
import type { SummarizedTenant } from '#core/admin/summary.ts'
import { tenantView } from '#lambdas/admin/tenants/tenant-view.ts'
import type { AdminResponse } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import type { ReadContext } from './read-context.ts'

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
