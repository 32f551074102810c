import { parseRequest, suspensionRequest } from '#core/admin/requests.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { suspendTenant as suspend } from '#store/tenants/tenant-lifecycle.ts'
import { respondWithTenant } from './changed-target.ts'
import { pathId } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `POST .../suspension`: every key is refused from its next request on. A tenant that is suspended already stays as it is. */
export const suspendTenant: WriteOperation = async (event, context) => {
  const tenantId = pathId(event, 'tenant_id', 'tenant')
  const { reason } = parseRequest(suspensionRequest, event.json)
  await suspend(context.table, tenantId, { actor: actorOf(event), reason })
  return await respondWithTenant(tenantId, context)
}
