import { formatCredits } from '#core/money.ts'
import { tenantView } from '#lambdas/admin/tenants/tenant-view.ts'
import { type AdminResponse, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { alertViewOf } from '#store/alerts/alert-settings.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { readBalance, readTenantRecord } from '#store/tenants/tenants.ts'
import type { ReadContext } from './read-context.ts'
import { allowedTenant, unknownTenant, visibleTenant } from './tenant-of-request.ts'

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
