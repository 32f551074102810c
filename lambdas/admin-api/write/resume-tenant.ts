import { emptyRequest, parseRequest } from '#core/admin/requests.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { resumeTenant as resume } from '#store/tenants/tenant-lifecycle.ts'
import { respondWithTenant } from './changed-target.ts'
import { pathId } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `DELETE .../suspension`: keys that are neither revoked nor expired work again. */
export const resumeTenant: WriteOperation = async (event, context) => {
  const tenantId = pathId(event, 'tenant_id', 'tenant')
  parseRequest(emptyRequest, event.json)
  await resume(context.table, tenantId, { actor: actorOf(event) })
  return await respondWithTenant(tenantId, context)
}
