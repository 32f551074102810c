import { ForbiddenError } from '#core/admin/errors.ts'
import { parseRequest, playgroundKeyRequest } from '#core/admin/requests.ts'
import type { Session } from '#core/admin/session.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { actorOf, sessionOf } from '#middleware/admin-chain.ts'
import { createPlaygroundKey as create } from '#store/keys/playground-key.ts'
import { countForHolder } from '#store/limits/console-rates.ts'
import type { WriteOperation } from './write-context.ts'

/**
 * `POST /admin/v1/playground/key`: a key of 15 minutes, in this response alone. A session of an API key gets one with the limits of that
 * key; an owner chooses a tenant.
 */
export const createPlaygroundKey: WriteOperation = async (event, { table, nowMilliseconds }) => {
  const { tenant } = parseRequest(playgroundKeyRequest, event.json)
  const session = sessionOf(event)
  const parent = parentOf(session, tenant)
  const now = nowMilliseconds()
  await countForHolder(table, 'playground-key', { holder: session.holder, nowMilliseconds: now })
  const wish = { sessionId: session.id, actor: actorOf(event), nowMilliseconds: now }
  const { key, expiresAt, tenantId } = await create(table, { ...parent, ...wish })
  return { body: { object: 'playground.key', key, expires_at: expiresAt, tenant: tenantId } }
}

function parentOf({ role, kind, keyId, tenant: own }: Session, asked: string | undefined) {
  if (role === 'tenant') {
    if (kind !== 'api_key' || keyId === null || own === null) {
      throw new ForbiddenError('this session has no API key to make a key from: sign in with an API key')
    }
    if (asked !== undefined && asked !== own.id) {
      throw new ForbiddenError('this session sees its own tenant alone')
    }
    return { tenantId: own.id, keyId }
  }
  if (role !== 'owner') {
    throw new ForbiddenError('the playground spends credits: this needs the role owner, or a session of an API key')
  }
  if (asked === undefined) {
    throw new InvalidRequestError([{ path: 'tenant', message: 'name the tenant whose credits the key may spend' }])
  }
  return { tenantId: asked, keyId: undefined }
}
