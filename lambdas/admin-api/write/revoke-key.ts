import { emptyRequest, parseRequest } from '#core/admin/requests.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { revokeApiKey } from '#store/keys/api-keys.ts'
import { readKeyBody } from './changed-target.ts'
import { pathId } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `POST .../revocation`: the key is refused from its next request on, permanently. A key that is revoked already stays as it is. */
export const revokeKey: WriteOperation = async (event, context) => {
  const keyId = pathId(event, 'key_id', 'key')
  parseRequest(emptyRequest, event.json)
  await revokeApiKey(context.table, keyId, actorOf(event))
  return { body: await readKeyBody(context, keyId) }
}
