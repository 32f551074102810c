import { adjustmentRequest, parseRequest } from '#core/admin/requests.ts'
import { formatCredits } from '#core/money.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { adjustTenant } from '#store/tenants/credits.ts'
import { tenantBody } from './changed-target.ts'
import { pathId } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `POST .../adjustments`: corrects what was granted, once for each id. A repeat moves nothing. */
export const adjustCredits: WriteOperation = async (event, context) => {
  const tenantId = pathId(event, 'tenant_id', 'tenant')
  const { amount, reason, id, allow_debt: isDebtAllowed } = parseRequest(adjustmentRequest, event.json)
  const adjustment = { id, amount, reason, isDebtAllowed, actor: actorOf(event) }
  const { tenant, isNew } = await adjustTenant(context.table, tenantId, adjustment)
  const adjusted = { object: 'adjustment', id, amount: formatCredits(amount), repeated: !isNew }
  return { body: { ...adjusted, tenant: tenantBody(tenant, context) } }
}
