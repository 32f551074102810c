import { budgetView } from '#core/api/balance.ts'
import type { Budget } from '#core/budgets.ts'
import type { Actor } from '#store/audit/audit-entry.ts'
import type { ApiKeyListing } from '#store/keys/api-keys.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { StoreRefusal } from '#store/store-refusal.ts'
import type { Table } from '#store/table/table.ts'

/** How requests with a key are treated. */
export type KeyState = 'revoked' | 'expired' | 'suspended' | 'active'

/** How requests with the key are treated. The first state that applies counts. */
export function stateOf(
  { state, suspended, expiresAt }: Pick<ApiKeyListing, 'state' | 'suspended' | 'expiresAt'>,
  nowMilliseconds: number,
): KeyState {
  if (state === 'revoked') {
    return 'revoked'
  }
  if (expiresAt !== null && expiresAt <= nowMilliseconds) {
    return 'expired'
  }
  return suspended ? 'suspended' : 'active'
}

/** How long an old key keeps working where nobody says otherwise. */
export const OVERLAP_MILLISECONDS = 24 * 60 * 60 * 1000

type Rotation = {
  /** How long the old key keeps working. Its end is never put off. */
  readonly overlapMilliseconds: number
  /** End of the new key, in Unix milliseconds; undefined for the lifetime of the old one. */
  readonly endsAt: number | undefined
  readonly actor: Actor
  readonly nowMilliseconds: number
}

/** The new key, which is shown this once, and the end of the old one in Unix milliseconds. */
export type RotatedKey = {
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
export async function rotateKey(table: Table, old: ApiKeyListing, rotation: Rotation): Promise<RotatedKey> {
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

/** An API key as the admin API shows it, without the key itself. Times in Unix seconds. @param budget of the key, if it has one. */
export function keyView(key: ApiKeyListing, budget: Budget | undefined, nowMilliseconds: number) {
  return {
    id: key.keyId,
    name: key.name,
    tenant: key.tenantId,
    state: stateOf(key, nowMilliseconds),
    models: key.models,
    rate_per_minute: key.ratePerMinute,
    budget: budgetView(budget ?? null, nowMilliseconds),
    created_at: Math.trunc(key.createdAt / 1000),
    expires_at: key.expiresAt === null ? null : Math.trunc(key.expiresAt / 1000),
    last_used_at: null,
  }
}
