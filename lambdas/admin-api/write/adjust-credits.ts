import { adjustTenant } from '#adapters/store/accounts/adjust-credits.ts'
import { parseRequest } from '#core/console/parse-request.ts'
import { adjustmentRequest } from '#core/console/tenant-request.ts'
import { formatCredits } from '#core/money/money.ts'
import { actorOf } from '#middleware/admin-event.ts'
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
