import * as z from 'zod/mini'
import { ForbiddenError } from '#core/admin/errors.ts'
import { changeObject, requestObject } from '#core/admin/parse-request.ts'
import {
  againField,
  budgetField,
  endField,
  idField,
  nameField,
  newKeyIdField,
  OVERLAP_MILLISECONDS,
  overlapField,
} from '#core/admin/request-fields.ts'
import type { Session } from '#core/admin/session.ts'
import { type Budget, type BudgetLimit, formatBudgetLimit } from '#core/budgets.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { RATE_PER_MINUTE_DEFAULT, RATE_PER_MINUTE_MAX } from '#core/limits.ts'
import type { Actor } from '#store/audit/audit-entry.ts'
import { planKeyBudget, readKeyBudgets } from '#store/key-budgets.ts'
import { type ApiKeyListing, getApiKey } from '#store/keys/api-keys.ts'
import { generateApiKey, type KeySettings, setApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { countForHolder } from '#store/limits/console-rates.ts'
import { isRefusal, StoreRefusal } from '#store/store-refusal.ts'
import type { Table } from '#store/table/table.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { budgetJson } from './budgets.ts'
import { keyJson, stateOf } from './keys.ts'
import { defineOperation, isoSeconds, isoTime, type OperationContext } from './operation.ts'

type Rotation = {
  /** How long the old key keeps working. Its end is never put off. */
  readonly overlapMilliseconds: number
  /** End of the new key, in Unix milliseconds; undefined for the lifetime of the old one. */
  readonly endsAt: number | undefined
  readonly actor: Actor
  readonly nowMilliseconds: number
}

/** The new key, which is shown this once, and the end of the old one in Unix milliseconds. */
type RotatedKey = {
  readonly id: string
  readonly key: string
  readonly limits: {
    readonly models: readonly string[] | null
    readonly name: string | undefined
    readonly expiresAt: number | undefined
    readonly ratePerMinute: number | undefined
  }
  readonly oldEndsAt: number
}

/** @throws StoreRefusal `key_unusable` for a key that is revoked or has expired. */
export function requireUsable(key: ApiKeyListing, nowMilliseconds: number): void {
  const state = stateOf(key, nowMilliseconds)
  if (state === 'revoked' || state === 'expired') {
    throw new StoreRefusal('key_unusable', `key ${key.keyId} is ${state}: it cannot be used any more; create a new one`)
  }
}

/** When a key ends that was rotated before, in Unix milliseconds; undefined for one that was not. It is not rotated again unasked. */
export function endAfterRotation({ endBeforeReplacement, expiresAt }: ApiKeyListing): number | undefined {
  return endBeforeReplacement === undefined ? undefined : (expiresAt ?? undefined)
}

/**
 * Replaces a key by a new one with its tenant, name, models, rate and budget. Both are written in one transaction: after a crash, the old
 * key either is unchanged or works beside the new one.
 * @throws StoreRefusal `key_unusable`, `changed_meanwhile` if somebody else changed the key since it was read.
 */
export async function replaceKey(table: Table, old: ApiKeyListing, rotation: Rotation): Promise<RotatedKey> {
  const { overlapMilliseconds, endsAt, actor, nowMilliseconds } = rotation
  requireUsable(old, nowMilliseconds)
  const oldEndsAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, nowMilliseconds + overlapMilliseconds)
  const key = generateApiKey()
  const limits = {
    models: old.models,
    name: old.name ?? undefined,
    expiresAt: endsAt ?? endOfSameLifetime(old, nowMilliseconds),
    ratePerMinute: old.ratePerMinute ?? undefined,
  }
  // The budget goes on with what is spent and held: a rotation gives no room.
  const shared = old.budget === null ? {} : { budget: old.budget }
  const replaces = { keyId: old.keyId, expiresAt: old.expiresAt, revision: old.revision, endsAt: oldEndsAt }
  const id = await storeApiKey(table, { key, tenantId: old.tenantId, ...limits, ...shared, replaces }, actor)
  return { id, key, limits, oldEndsAt }
}

/** A second rotation uses the expiry before the first one; otherwise the new key would expire at the end of the overlap. */
function endOfSameLifetime({ expiresAt, endBeforeReplacement, createdAt }: ApiKeyListing, now: number) {
  const planned = endBeforeReplacement === undefined ? expiresAt : endBeforeReplacement
  return planned === null ? undefined : now + (planned - createdAt)
}

type NewKey = {
  readonly id: string
  readonly key: string | undefined
  readonly tenant: string
  readonly limits: RotatedKey['limits']
}

/** A new key with its limits. JSON leaves out those that it does not have. */
type NewKeyJson = {
  readonly id: string
  /** Left out where an earlier request with the id made the key: only its digest is stored. */
  readonly key?: string | undefined
  readonly tenant: string
  readonly models: readonly string[] | null
  readonly name?: string | undefined
  readonly expires_at?: string | undefined
  readonly rate_per_minute?: number | undefined
  readonly budget?: NonNullable<ReturnType<typeof budgetJson>> | undefined
  readonly repeated?: boolean | undefined
}

async function newKeyJson(
  table: Table,
  { id, key, tenant, limits }: NewKey,
  nowMilliseconds: number,
): Promise<NewKeyJson> {
  const { models, name, expiresAt, ratePerMinute } = limits
  const budget = await budgetOf(table, (await getApiKey(table, id)).listing)
  return {
    ...{ id, key, tenant, models, name },
    expires_at: expiresAt === undefined ? undefined : isoSeconds(expiresAt),
    rate_per_minute: ratePerMinute,
    budget: budgetJson(budget, nowMilliseconds) ?? undefined,
  }
}

async function budgetOf(table: Table, key: ApiKeyListing): Promise<Budget | undefined> {
  const [budget] = (await readKeyBudgets(table, [key])).values()
  return budget
}

/** @throws InvalidRequestError for an end that is not in the future. */
function requireFuture(end: number | null | undefined, nowMilliseconds: number): void {
  if (typeof end === 'number' && end <= nowMilliseconds) {
    throw new InvalidRequestError([{ path: 'expires_at', message: 'use a time in the future' }])
  }
}

/** Keeps what an admin of a tenant gives its keys within what the tenant has. Loaded for such admins alone. */
async function checkTenant(
  limits: { readonly rate: number | null | undefined; readonly budget: BudgetLimit | null | undefined },
  { session, table }: Pick<OperationContext<'POST'>, 'session' | 'table'>,
): Promise<void> {
  if (session?.role === 'tenant-admin') {
    const { requireWithinTenant } = await import('./key-bounds.ts')
    await requireWithinTenant(limits, { tenantId: session.tenant?.id ?? '', table })
  }
}

const MODELS_ALLOWED = 'use a list of 1 to 200 model ids, or null for all models'
const RATE_ALLOWED = `use a whole number from 1 to ${RATE_PER_MINUTE_MAX}, or null for no limit`

/** What a key may do, as requests for new and existing keys name it. */
function keyFields() {
  const length = [z.minLength(1, MODELS_ALLOWED), z.maxLength(200, MODELS_ALLOWED)] as const
  return {
    name: z.nullable(nameField()),
    models: z
      .nullable(z.array(z.string(MODELS_ALLOWED).check(...length), MODELS_ALLOWED).check(...length))
      .check(z.describe('Models that the key may use; null for all.')),
    rate_per_minute: z
      .nullable(z.int(RATE_ALLOWED).check(z.minimum(1, RATE_ALLOWED), z.maximum(RATE_PER_MINUTE_MAX, RATE_ALLOWED)))
      .check(z.describe('Requests per minute; null for no limit.')),
    budget: z.nullable(budgetField()),
    expires_at: z.nullable(endField()).check(z.describe('A time in the future; null for a key that does not expire.')),
  }
}

type WishedKey = RotatedKey['limits'] & { readonly tenantId: string; readonly budgetLimit: BudgetLimit | undefined }

/** Whether a key is what a request asks for: an earlier try of the request made it, and nobody has changed it since. */
async function isSameKey(
  table: Table,
  keyId: string,
  { tenantId, models, name, expiresAt, ratePerMinute, budgetLimit }: WishedKey,
): Promise<boolean> {
  const { listing } = await getApiKey(table, keyId)
  const budget = await budgetOf(table, listing)
  const limit = budget && { amount: budget.amount, kind: budget.period.kind }
  const made = [listing.state, listing.tenantId, listing.models, listing.name, listing.expiresAt, listing.ratePerMinute]
  const asked = ['active', tenantId, models, name ?? null, expiresAt ?? null, ratePerMinute ?? null]
  const texts = [made, asked].map((fields) => JSON.stringify(fields))
  const budgets = [limit, budgetLimit].map((each) => each && formatBudgetLimit(each))
  return texts[0] === texts[1] && budgets[0] === budgets[1]
}

/** The key is in this response alone. The key of a suspended tenant is suspended too. */
export const createKey = defineOperation({
  name: 'create-key',
  method: 'POST',
  path: '/admin/v1/keys',
  access: 'tenant-admin',
  status: 201,
  conflicts: ['id_taken', 'changed_meanwhile'],
  audit: 'key create',
  body() {
    const { name, models, rate_per_minute, budget, expires_at } = keyFields()
    return requestObject({
      tenant: idField().check(z.describe('The id of the tenant.')),
      id: z.optional(newKeyIdField()),
      name: z._default(name, null),
      models: z._default(models, null),
      rate_per_minute: z._default(rate_per_minute, RATE_PER_MINUTE_DEFAULT),
      budget: z._default(budget, null).check(z.describe('Null for no budget.')),
      expires_at: z._default(expires_at, null),
    })
  },
  async run({ tenant, id: wished, name, models, budget, rate_per_minute: rate, expires_at: end }, context) {
    const { table, actor, nowMilliseconds, checkModels, warn } = context
    const now = nowMilliseconds()
    requireFuture(end, now)
    await checkTenant({ rate, budget }, context)
    await checkModels(models)
    const { id: tenantId, state } = await getTenant(table, tenant)
    if (state === 'suspended') {
      warn(`tenant ${tenantId} is suspended: the key is refused until \`tenant resume\``)
    }
    const key = generateApiKey(wished)
    const limits = {
      models,
      name: name ?? undefined,
      expiresAt: end ?? undefined,
      ratePerMinute: rate ?? undefined,
    }
    const wish = { tenantId, budgetLimit: budget ?? undefined, ...limits }
    const id = await storeApiKey(table, { key, ...wish }, actor).catch(async (error: unknown) => {
      if (wished !== undefined && isRefusal(error, 'id_taken') && (await isSameKey(table, wished, wish))) {
        return undefined
      }
      throw error
    })
    const made = id === undefined ? { id: wished ?? '', key: undefined } : { id, key }
    const json = await newKeyJson(table, { ...made, tenant: tenantId, limits }, now)
    return id === undefined ? { ...json, repeated: true } : json
  },
})

/** All of the changes or none, from the next request on. Fields that are left out stay as they are. */
export const changeKey = defineOperation({
  name: 'change-key',
  method: 'PATCH',
  path: '/admin/v1/keys/{key_id}',
  access: 'tenant-admin',
  conflicts: ['key_unusable', 'changed_meanwhile'],
  audit: 'key set',
  body() {
    const { name, models, rate_per_minute, budget, expires_at } = keyFields()
    return changeObject({
      name: z.optional(name),
      models: z.optional(models),
      rate_per_minute: z.optional(rate_per_minute),
      budget: z.optional(budget).check(z.describe('Null takes the key out of its budget.')),
      expires_at: z.optional(expires_at),
    })
  },
  async run({ key_id: keyId, name, models, budget, rate_per_minute: rate, expires_at: end }, context) {
    const { table, actor, nowMilliseconds, checkModels, warn } = context
    const now = nowMilliseconds()
    requireFuture(end, now)
    const { listing } = await getApiKey(table, keyId)
    await checkTenant({ rate, budget }, context)
    await checkModels(models, async () => listing.models ?? [])
    if (listing.identity !== undefined) {
      // Loaded for the keys of subjects alone.
      const { requireWithinRule } = await import('./key-bounds.ts')
      requireWithinRule(listing.identity, { models, rate, budget })
    }
    const settings: KeySettings = {
      ...(name === undefined ? {} : { name }),
      ...(models === undefined ? {} : { models }),
      ...(rate === undefined ? {} : { ratePerMinute: rate }),
      ...(end === undefined ? {} : { expiresAt: end }),
      ...(budget === undefined ? {} : { budget: planKeyBudget(table, budget, { nowMilliseconds }) }),
    }
    const { key, isChanged } = await setApiKey(table, { keyId, settings, actor })
    if (!isChanged) {
      warn(`key ${keyId} has these settings already: nothing was changed`)
    }
    return keyJson(key, await budgetOf(table, key), now)
  },
})

/** A new key, in this response alone. The old one keeps working for the overlap. */
export const rotateKey = defineOperation({
  name: 'rotate-key',
  method: 'POST',
  path: '/admin/v1/keys/{key_id}/rotation',
  access: 'tenant-admin',
  status: 201,
  conflicts: ['rotated_already', 'key_unusable', 'changed_meanwhile'],
  audit: 'key rotate',
  body: () =>
    requestObject({
      overlap_seconds: z.optional(overlapField()),
      expires_at: z.optional(endField()).check(z.describe('End of the new key. Default: the lifetime of the old one.')),
      again: z._default(againField(), false),
    }),
  async run({ key_id: keyId, overlap_seconds: overlap, expires_at: end, again }, { table, actor, nowMilliseconds }) {
    const now = nowMilliseconds()
    requireFuture(end, now)
    const { listing } = await getApiKey(table, keyId)
    requireUsable(listing, now)
    if (listing.identity !== undefined) {
      throw new StoreRefusal('key_unusable', `key ${keyId} is that of a subject, which has no key to replace`)
    }
    const rotatedUntil = endAfterRotation(listing)
    if (rotatedUntil !== undefined && !again) {
      throw new StoreRefusal(
        'rotated_already',
        `key ${keyId} was rotated before and ends at ${isoTime(rotatedUntil)}: \`again\` permits a second successor`,
      )
    }
    const overlapMilliseconds = overlap === undefined ? OVERLAP_MILLISECONDS : overlap * 1000
    const rotation = { overlapMilliseconds, endsAt: end, actor, nowMilliseconds: now }
    const { oldEndsAt, ...made } = await replaceKey(table, listing, rotation)
    return {
      ...(await newKeyJson(table, { ...made, tenant: listing.tenantId }, now)),
      replaces: keyId,
      old_expires_at: isoSeconds(oldEndsAt),
    }
  },
})

/** The key is refused from its next request on, permanently. A key that is revoked already stays as it is. */
export const revokeKey = defineOperation({
  name: 'revoke-key',
  method: 'POST',
  path: '/admin/v1/keys/{key_id}/revocation',
  access: 'tenant-admin',
  conflicts: ['changed_meanwhile'],
  audit: 'key revoke',
  async run({ key_id: keyId }, { table, actor }) {
    const { revokeApiKey } = await import('#store/keys/revocation.ts')
    await revokeApiKey(table, keyId, actor)
    return { id: keyId, state: 'revoked' as const }
  },
})

/** Only for the key of a subject: the revocation of an API key is final. */
export const restoreKey = defineOperation({
  name: 'restore-key',
  method: 'DELETE',
  path: '/admin/v1/keys/{key_id}/revocation',
  access: 'tenant-admin',
  conflicts: ['key_unusable', 'changed_meanwhile'],
  audit: 'key restore',
  async run({ key_id: keyId }, { table, actor }) {
    const { restoreSubjectKey } = await import('#store/keys/revocation.ts')
    await restoreSubjectKey(table, keyId, actor)
    return { id: keyId, state: 'active' as const }
  },
})

/**
 * A key of 15 minutes, in this response alone. A session of an API key gets one with the limits of that key; an owner chooses a tenant, and an
 * admin of a tenant has one.
 */
export const createPlaygroundKey = defineOperation({
  name: 'create-playground-key',
  method: 'POST',
  path: '/admin/v1/playground/key',
  access: 'playground',
  status: 201,
  conflicts: ['tenant_suspended', 'key_unusable', 'changed_meanwhile'],
  needsSession: true,
  audit: 'playground-key create',
  body: () =>
    requestObject({
      tenant: z.optional(idField()).check(z.describe('For owners: the id of the tenant. Other roles have their own.')),
    }),
  async run({ tenant }, { table, session, actor, nowMilliseconds }) {
    if (session === undefined) {
      throw new ForbiddenError('a key for the playground belongs to a session of the console')
    }
    const parent = playgroundParent(session, tenant)
    const now = nowMilliseconds()
    await countForHolder(table, 'playground-key', { holder: session.holder, nowMilliseconds: now })
    const wish = { sessionId: session.id, actor, nowMilliseconds: now }
    // Loaded when the playground is first used: no other operation makes such keys.
    const { createPlaygroundKey: storePlaygroundKey } = await import('#store/keys/playground-key.ts')
    const { key, expiresAt, tenantId } = await storePlaygroundKey(table, { ...parent, ...wish })
    return { key, expires_at: isoTime(expiresAt * 1000), tenant: tenantId }
  },
})

function playgroundParent({ role, kind, keyId, tenant: own }: Session, asked: string | undefined) {
  if (role === 'tenant') {
    if (kind !== 'api_key' || keyId === null || own === null) {
      throw new ForbiddenError('this session has no API key to make a key from: sign in with an API key')
    }
    return { tenantId: own.id, keyId }
  }
  const tenantId = own?.id ?? asked
  if (tenantId === undefined) {
    throw new InvalidRequestError([{ path: 'tenant', message: 'name the tenant whose credits the key may spend' }])
  }
  return { tenantId, keyId: undefined }
}

/** The operations of keys that write. */
export const KEY_WRITES = [createKey, changeKey, rotateKey, revokeKey, restoreKey, createPlaygroundKey] as const
