import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Condition, NamedWrites, Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type ApiKeyListing, getApiKey } from './api-key-listing.ts'
import { endPlaygroundKeys, hasNoNewPlaygroundKey } from './playground-keys.ts'

/** A key that gets a new end in the transaction that stores its successor. */
export type ReplacedApiKey = Pick<ApiKeyListing, 'keyId' | 'expiresAt'> & {
  /** The revision with which the key was read, whose name and limits its successor gets. */
  readonly revision?: number | undefined
  /** New expiry in Unix milliseconds, rounded down to seconds; it may shorten or extend. A revoked key stays revoked. */
  readonly endsAt: number
}

/** Reads and writes while playground keys are made with the key. */
const TRIES_MAX = 5

/**
 * Revokes a key, in one transaction with its listing, its playground keys and the entry of the audit log: its next request is refused, and
 * so is a reservation that is under way. A key that is revoked already stays as it is.
 * @throws StoreRefusal `not_found` when no key has this id.
 * @throws StoreRefusal `changed_meanwhile` if playground keys are made with it all the time.
 */
export async function revokeApiKey(table: Table, keyId: string, actor: Actor): Promise<void> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
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
      return await table.transact({ ...revocation, audit })
    } catch (error) {
      // Another command, or an earlier try of this one, may have revoked the key since it was read.
      if (!(error instanceof ConditionsNotMetError)) {
        throw error
      }
    }
  }
  throw new StoreRefusal('changed_meanwhile', `key ${keyId} is being changed by others: nothing was done`)
}

/**
 * The writes that give a replaced key its new end. The listing keeps the first end of the key, so that a second successor gets the key's
 * lifetime and not its last days.
 * @throws StoreRefusal `not_found`.
 */
export async function endKey(
  table: Table,
  { keyId, expiresAt, revision, endsAt }: ReplacedApiKey,
): Promise<NamedWrites> {
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

/**
 * The writes that change a key and its listing alike, if both exist, and end its playground keys, which have what the key had before.
 * @throws StoreRefusal `not_found` when no key has this id.
 */
export async function updateKey(
  table: Table,
  keyId: string,
  { ConditionExpression, ...change }: KeyChange,
): Promise<NamedWrites> {
  const { digest, playground } = await getApiKey(table, keyId)
  const conditions = ['attribute_exists(PK)', ...(ConditionExpression === undefined ? [] : [ConditionExpression])]
  const { condition, values } = hasNoNewPlaygroundKey(playground)
  return {
    key: { Update: { ...change, ConditionExpression: conditions.join(' AND '), Key: tableKeys.apiKey(digest) } },
    listing: {
      Update: {
        ...change,
        ConditionExpression: [...conditions, condition].join(' AND '),
        ...valuesOf({ ...change.ExpressionAttributeValues, ...values }),
        Key: tableKeys.apiKeyListing(keyId),
      },
    },
    ...endPlaygroundKeys(playground.keys, Date.now()),
  }
}

/** DynamoDB refuses an empty set of values. */
function valuesOf(values: Readonly<Record<string, unknown>>): Pick<Condition, 'ExpressionAttributeValues'> {
  return Object.keys(values).length === 0 ? {} : { ExpressionAttributeValues: values }
}
