import { emptyRequest, parseRequest } from '#core/admin/parse-request.ts'
import {
  adjustmentRequest,
  changeTenantRequest,
  createTenantRequest,
  grantRequest,
  suspensionRequest,
} from '#core/admin/requests.ts'
import { formatCredits, ZERO } from '#core/money.ts'
import { pathId } from '#lambdas/admin/serve-operation.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { changeTenant as change } from '#store/tenants/change-tenant.ts'
import { adjustTenant, grantTenant } from '#store/tenants/credits.ts'
import { makeTenant, resumeTenant as resume, suspendTenant as suspend } from '#store/tenants/tenant-lifecycle.ts'
import { respondWithTenant, tenantBody, type WriteOperation } from './write-context.ts'

/** `POST /admin/v1/tenants`. The tenant has no credits before a grant. Its callback secret is shown on request alone. */
export const createTenant: WriteOperation = async (event, context) => {
  const { name, open_jobs_max: openJobsMax, budget } = parseRequest(createTenantRequest, event.json)
  const tenant = { name, credits: ZERO, openJobsMax, budgetLimit: budget }
  return { body: tenantBody(await makeTenant(context.table, tenant, actorOf(event)), context) }
}

/** `PATCH /admin/v1/tenants/{tenant_id}`: all of the changes or none. Fields that are left out stay as they are. */
export const changeTenant: WriteOperation = async (event, context) => {
  const tenantId = pathId(event, 'tenant_id', 'tenant')
  const { name, open_jobs_max: openJobsMax, budget } = parseRequest(changeTenantRequest, event.json)
  await change(context.table, { tenantId, settings: { name, openJobsMax, budget }, actor: actorOf(event) })
  return await respondWithTenant(tenantId, context)
}

/** `POST .../suspension`: every key is refused from its next request on. A tenant that is suspended already stays as it is. */
export const suspendTenant: WriteOperation = async (event, context) => {
  const tenantId = pathId(event, 'tenant_id', 'tenant')
  const { reason } = parseRequest(suspensionRequest, event.json)
  await suspend(context.table, tenantId, { actor: actorOf(event), reason })
  return await respondWithTenant(tenantId, context)
}

/** `DELETE .../suspension`: keys that are neither revoked nor expired work again. */
export const resumeTenant: WriteOperation = async (event, context) => {
  const tenantId = pathId(event, 'tenant_id', 'tenant')
  parseRequest(emptyRequest(), event.json)
  await resume(context.table, tenantId, { actor: actorOf(event) })
  return await respondWithTenant(tenantId, context)
}

/** `POST .../grants`: adds credits, once for each id. A repeat responds with `repeated: true` and moves nothing. */
export const grantCredits: WriteOperation = async (event, context) => {
  const tenantId = pathId(event, 'tenant_id', 'tenant')
  const { credits, id, note: reason } = parseRequest(grantRequest, event.json)
  const { tenant, isNew } = await grantTenant(context.table, tenantId, { id, credits, reason, actor: actorOf(event) })
  const grant = { object: 'grant', id, credits: formatCredits(credits), repeated: !isNew }
  return { body: { ...grant, tenant: tenantBody(tenant, context) } }
}

/** `POST .../adjustments`: corrects what was granted, once for each id. A repeat moves nothing. */
export const adjustCredits: WriteOperation = async (event, context) => {
  const tenantId = pathId(event, 'tenant_id', 'tenant')
  const { amount, reason, id, allow_debt: isDebtAllowed } = parseRequest(adjustmentRequest, event.json)
  const adjustment = { id, amount, reason, isDebtAllowed, actor: actorOf(event) }
  const { tenant, isNew } = await adjustTenant(context.table, tenantId, adjustment)
  const adjusted = { object: 'adjustment', id, amount: formatCredits(amount), repeated: !isNew }
  return { body: { ...adjusted, tenant: tenantBody(tenant, context) } }
}
