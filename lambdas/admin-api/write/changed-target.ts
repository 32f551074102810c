import { keyView } from '#lambdas/admin/keys/key-view.ts'
import { tenantView } from '#lambdas/admin/tenants/tenant-view.ts'
import type { AdminResponse } from '#middleware/admin-chain.ts'
import { readKeyBudgets } from '#store/key-budgets.ts'
import { type ApiKeyListing, getApiKey } from '#store/keys/api-keys.ts'
import { getTenant, type Tenant } from '#store/tenants/tenants.ts'
import type { WriteContext } from './write-context.ts'

/** A tenant after a change. */
export function tenantBody(tenant: Tenant, { nowMilliseconds }: WriteContext) {
  return { object: 'tenant', ...tenantView(tenant, nowMilliseconds()) }
}

/** Reads a tenant after a change. @throws StoreRefusal `not_found`. */
export async function respondWithTenant(tenantId: string, context: WriteContext): Promise<AdminResponse> {
  return { body: tenantBody(await getTenant(context.table, tenantId), context) }
}

/** A key with its budget, after a change. */
export async function keyBody({ table, nowMilliseconds }: WriteContext, key: ApiKeyListing) {
  const [budget] = (await readKeyBudgets(table, [key])).values()
  return { object: 'key', ...keyView(key, budget, nowMilliseconds()) }
}

/** The same, read by its id. @throws StoreRefusal `not_found`. */
export async function readKeyBody(context: WriteContext, keyId: string) {
  return await keyBody(context, (await getApiKey(context.table, keyId)).listing)
}
