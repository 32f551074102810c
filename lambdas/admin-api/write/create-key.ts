import { createKeyRequest, parseRequest } from '#core/admin/requests.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { readKeyBody } from './changed-target.ts'
import { requireFuture, requireKnownModels } from './key-limits.ts'
import type { WriteOperation } from './write-context.ts'

/** `POST /admin/v1/keys`. The key is in this response alone. The key of a suspended tenant is suspended too. */
export const createKey: WriteOperation = async (event, context) => {
  const request = parseRequest(createKeyRequest, event.json)
  const { tenant, name, models, budget } = request
  requireFuture(request.expires_at, context)
  requireKnownModels(models, context)
  const { id: tenantId } = await getTenant(context.table, tenant)
  const key = generateApiKey()
  const id = await storeApiKey(
    context.table,
    {
      ...{ key, tenantId, models, name: name ?? undefined, ratePerMinute: request.rate_per_minute ?? undefined },
      expiresAt: request.expires_at === null ? undefined : request.expires_at * 1000,
      budgetLimit: budget ?? undefined,
    },
    actorOf(event),
  )
  return { body: { ...(await readKeyBody(context, id)), key } }
}
