import { changeKeyRequest, parseRequest } from '#core/admin/requests.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { planKeyBudget } from '#store/key-budgets.ts'
import { getApiKey } from '#store/keys/api-keys.ts'
import { type KeySettings, setApiKey } from '#store/keys/key-changes.ts'
import { keyBody } from './changed-target.ts'
import { requireFuture, requireKnownModels } from './key-limits.ts'
import { pathId } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `PATCH /admin/v1/keys/{key_id}`: all of the changes or none, from the next request on. Fields that are left out stay as they are. */
export const changeKey: WriteOperation = async (event, context) => {
  const keyId = pathId(event, 'key_id', 'key')
  const { name, models, budget, rate_per_minute: rate, expires_at: end } = parseRequest(changeKeyRequest, event.json)
  requireFuture(end, context)
  if (models) {
    requireKnownModels(models, context, (await getApiKey(context.table, keyId)).listing.models ?? [])
  }
  const settings: KeySettings = {
    ...(name === undefined ? {} : { name }),
    ...(models === undefined ? {} : { models }),
    ...(rate === undefined ? {} : { ratePerMinute: rate }),
    ...(end === undefined ? {} : { expiresAt: end === null ? null : end * 1000 }),
    ...(budget === undefined ? {} : { budget: planKeyBudget(context.table, budget, context) }),
  }
  const { key } = await setApiKey(context.table, { keyId, settings, actor: actorOf(event) })
  return { body: await keyBody(context, key) }
}
