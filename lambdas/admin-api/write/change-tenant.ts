import { changeTenantRequest, parseRequest } from '#core/admin/requests.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { changeTenant as change } from '#store/tenants/change-tenant.ts'
import { respondWithTenant } from './changed-target.ts'
import { pathId } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `PATCH /admin/v1/tenants/{tenant_id}`: all of the changes or none. Fields that are left out stay as they are. */
export const changeTenant: WriteOperation = async (event, context) => {
  const tenantId = pathId(event, 'tenant_id', 'tenant')
  const { name, open_jobs_max: openJobsMax, budget } = parseRequest(changeTenantRequest, event.json)
  await change(context.table, { tenantId, settings: { name, openJobsMax, budget }, actor: actorOf(event) })
  return await respondWithTenant(tenantId, context)
}
