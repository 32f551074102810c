import { grantRequest, parseRequest } from '#core/admin/requests.ts'
import { formatCredits } from '#core/money.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { grantTenant } from '#store/tenants/credits.ts'
import { tenantBody } from './changed-target.ts'
import { pathId } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `POST .../grants`: adds credits, once for each id. A repeat responds with `repeated: true` and moves nothing. */
export const grantCredits: WriteOperation = async (event, context) => {
  const tenantId = pathId(event, 'tenant_id', 'tenant')
  const { credits, id, note: reason } = parseRequest(grantRequest, event.json)
  const { tenant, isNew } = await grantTenant(context.table, tenantId, { id, credits, reason, actor: actorOf(event) })
  const grant = { object: 'grant', id, credits: formatCredits(credits), repeated: !isNew }
  return { body: { ...grant, tenant: tenantBody(tenant, context) } }
}
