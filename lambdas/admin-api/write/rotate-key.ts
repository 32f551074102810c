import { AdminConflictError } from '#core/admin/errors.ts'
import { parseRequest, rotationRequest } from '#core/admin/requests.ts'
import {
  endAfterRotation,
  OVERLAP_MILLISECONDS,
  requireUsable,
  rotateKey as rotate,
} from '#lambdas/admin/keys/rotate-key.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { getApiKey } from '#store/keys/api-keys.ts'
import { readKeyBody } from './changed-target.ts'
import { requireFuture } from './key-limits.ts'
import { pathId } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `POST .../rotation`: a new key, in this response alone. The old one keeps working for the overlap. */
export const rotateKey: WriteOperation = async (event, context) => {
  const keyId = pathId(event, 'key_id', 'key')
  const { overlap_seconds: overlap, expires_at: end, again } = parseRequest(rotationRequest, event.json)
  requireFuture(end, context)
  const now = context.nowMilliseconds()
  const { listing } = await getApiKey(context.table, keyId)
  requireUsable(listing, now)
  const rotatedUntil = endAfterRotation(listing)
  if (rotatedUntil !== undefined && !again) {
    throw new AdminConflictError(
      `key ${keyId} was rotated before and ends at ${new Date(rotatedUntil).toISOString()}: \`again\` permits a second successor`,
      'rotated_already',
      { param: 'again' },
    )
  }
  const rotated = await rotate(context.table, listing, {
    overlapMilliseconds: overlap === undefined ? OVERLAP_MILLISECONDS : overlap * 1000,
    endsAt: end === undefined ? undefined : end * 1000,
    actor: actorOf(event),
    nowMilliseconds: now,
  })
  const replaced = { replaces: keyId, old_expires_at: Math.trunc(rotated.oldEndsAt / 1000) }
  return { body: { ...(await readKeyBody(context, rotated.id)), key: rotated.key, ...replaced } }
}
