import { AdminConflictError, ForbiddenError } from '#core/admin/errors.ts'
import {
  changeKeyRequest,
  createKeyRequest,
  emptyRequest,
  parseRequest,
  playgroundKeyRequest,
  rotationRequest,
} from '#core/admin/requests.ts'
import type { Session } from '#core/admin/session.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { endAfterRotation, OVERLAP_MILLISECONDS, requireUsable, rotateKey as rotate } from '#lambdas/admin/keys.ts'
import { actorOf, sessionOf } from '#middleware/admin-chain.ts'
import { planKeyBudget } from '#store/key-budgets.ts'
import { getApiKey, revokeApiKey } from '#store/keys/api-keys.ts'
import { generateApiKey, type KeySettings, setApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { createPlaygroundKey as create } from '#store/keys/playground-key.ts'
import { countForHolder } from '#store/limits/console-rates.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { keyBody, pathId, readKeyBody, type WriteContext, type WriteOperation } from './write-context.ts'

/** @throws InvalidRequestError for an end that is not in the future. */
export function requireFuture(endSeconds: number | null | undefined, { nowMilliseconds }: WriteContext): void {
  if (typeof endSeconds === 'number' && endSeconds * 1000 <= nowMilliseconds()) {
    throw new InvalidRequestError([{ path: 'expires_at', message: 'use a time in the future, in Unix seconds' }])
  }
}

/**
 * @param kept models that the key has already: the configuration may have lost them.
 * @throws InvalidRequestError for a model that the configuration does not have.
 */
export function requireKnownModels(
  models: readonly string[] | null | undefined,
  { openCatalogue }: WriteContext,
  kept: readonly string[] = [],
): void {
  const known = new Set([...openCatalogue().config.models.map(({ id }) => id), ...kept])
  for (const [index, model] of (models ?? []).entries()) {
    if (!known.has(model)) {
      throw new InvalidRequestError([
        {
          path: `models.${index}`,
          message: 'the configuration has no such model: `GET /admin/v1/channels` lists them',
        },
      ])
    }
  }
}

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

/** `POST .../revocation`: the key is refused from its next request on, permanently. A key that is revoked already stays as it is. */
export const revokeKey: WriteOperation = async (event, context) => {
  const keyId = pathId(event, 'key_id', 'key')
  parseRequest(emptyRequest, event.json)
  await revokeApiKey(context.table, keyId, actorOf(event))
  return { body: await readKeyBody(context, keyId) }
}

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
