import { createTenantRequest, parseRequest } from '#core/admin/requests.ts'
import { ZERO } from '#core/money.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { tenantBody } from './changed-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `POST /admin/v1/tenants`. The tenant has no credits before a grant. Its callback secret is shown on request alone. */
export const createTenant: WriteOperation = async (event, context) => {
  const { name, open_jobs_max: openJobsMax, budget } = parseRequest(createTenantRequest, event.json)
  const tenant = { name, credits: ZERO, openJobsMax, budgetLimit: budget }
  return { body: tenantBody(await makeTenant(context.table, tenant, actorOf(event)), context) }
}
