import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Condition, NamedWrites, Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type ApiKeyListing, getApiKey } from './api-key-listing.ts'

/** Another command changed the key meanwhile. Nothing was written. */
export class ApiKeyChangedError extends Error {
  override readonly name = 'ApiKeyChangedError'
}

/** A key that gets a new end in the transaction that stores its successor. */
export type ReplacedApiKey = Pick<ApiKeyListing, 'keyId' | 'expiresAt'> & {
  /** The revision with which the key was read, whose name and limits its successor gets. */
  readonly revision?: number | undefined
  /** Unix milliseconds, rounded down to whole seconds: earlier or later than before. A revoked key stays revoked. */
  readonly endsAt: number
}

/**
 * Revokes a key, in one transaction with its listing and the entry of the audit log: its next request is refused, and so is a reservation
 * that is under way. A key that is revoked already stays as it is.
 * @throws ApiKeyNotFoundError when no key has this id.
 */
export async function revokeApiKey(table: Table, keyId: string, actor: Actor): Promise<void> {
  const { tenantId, state } = (await getApiKey(table, keyId)).listing
  if (state === 'revoked') {
    return
  }
  const revocation = await updateKey(table, keyId, {
    UpdateExpression: 'SET #state = :revoked',
    ConditionExpression: '#state = :active',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':revoked': 'revoked', ':active': 'active' },
  })
  const target = { kind: 'key', id: keyId, tenantId } as const
  const [before, after] = [{ state: 'active' }, { state: 'revoked' }]
  const audit = auditEntry({ actor, action: 'key revoke', target, before, after, at: Date.now() })
  try {
    await table.transact({ ...revocation, audit })
  } catch (error) {
    // Another command, or an earlier try of this one, has revoked the key since it was read.
    if (!(error instanceof ConditionsNotMetError)) {
      throw error
    }
  }
}

/**
 * The writes that give a replaced key its new end. The listing keeps the first end of the key, so that a second successor gets the key's
 * lifetime and not its last days.
 * @throws ApiKeyNotFoundError.
 */
export async function endKey(table: Table, { keyId, expiresAt, revision, endsAt }: ReplacedApiKey): Promise<KeyWrites> {
  const was = expiresAt === null ? undefined : wholeSeconds(expiresAt)
  const keyEndsAsRead = was === undefined ? 'attribute_not_exists(expiresAt)' : 'expiresAt = :was'
  const keyHasNotChanged = revision === undefined ? 'attribute_not_exists(revision)' : 'revision = :revision'
  return await updateKey(table, keyId, {
    UpdateExpression:
      'SET expiresAt = :expiresAt, endBeforeReplacement = if_not_exists(endBeforeReplacement, :endBefore)',
    ConditionExpression: `${keyEndsAsRead} AND ${keyHasNotChanged}`,
    ExpressionAttributeValues: {
      ':expiresAt': wholeSeconds(endsAt),
      ':endBefore': was ?? null,
      ':was': was,
      ':revision': revision,
    },
  })
}

/** Seconds of a time in milliseconds, rounded down, so that a key never works longer than it should. */
export function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

/** One change of both items of a key, by its public id. */
type KeyChange = Condition & { readonly UpdateExpression: string }

/** The writes that change both items of a key. */
type KeyWrites = Pick<NamedWrites, 'key' | 'listing'>

/**
 * The writes that change a key and its listing alike, if both exist.
 * @throws ApiKeyNotFoundError when no key has this id.
 */
export async function updateKey(
  table: Table,
  keyId: string,
  { ConditionExpression, ...change }: KeyChange,
): Promise<KeyWrites> {
  const { digest } = await getApiKey(table, keyId)
  const conditions = ['attribute_exists(PK)', ...(ConditionExpression === undefined ? [] : [ConditionExpression])]
  const update = { ...change, ConditionExpression: conditions.join(' AND ') }
  return {
    key: { Update: { ...update, Key: tableKeys.apiKey(digest) } },
    listing: { Update: { ...update, Key: tableKeys.apiKeyListing(keyId) } },
  }
}
