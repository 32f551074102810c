import { isRatePerMinute, RATE_PER_MINUTE_MAX } from '#core/quota/request-rate.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Condition, NamedWrites, Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type ApiKeyListing, getApiKey } from './api-key-listing.ts'
import { isTenantInState, readTenantState } from './tenant-state.ts'

/** Another command changed the end of the key that was to be replaced. Nothing was written. */
export class ApiKeyChangedError extends Error {
  override readonly name = 'ApiKeyChangedError'
}

/** The tenant is suspended and resumed again and again while its key is being stored. */
class TenantUnsettledError extends Error {
  override readonly name = 'TenantUnsettledError'
}

type NewApiKey = Pick<ApiKeyListing, 'keyId' | 'tenantId' | 'models' | 'createdAt'> & {
  readonly digest: string
  readonly name?: string | undefined
  /** Milliseconds. */
  readonly expiresAt?: number | undefined
  readonly ratePerMinute?: number | undefined
  readonly replaces?: ReplacedApiKey | undefined
}

/** A key that gets a new end in the transaction that stores its successor. */
export type ReplacedApiKey = Pick<ApiKeyListing, 'keyId' | 'expiresAt'> & {
  /** Unix milliseconds, rounded down to whole seconds: earlier or later than before. A revoked key stays revoked. */
  readonly endsAt: number
}

/** Tries to store a key while its tenant is suspended or resumed. */
const TRIES_MAX = 5

/**
 * Stores a key by its digest, active. Storing a key again makes it active again, with the new limits. The key of a suspended
 * tenant is suspended too: the same transaction proves the tenant's state, so that a suspension cannot miss a key that is made
 * meanwhile.
 * @throws RangeError for a rate that no limit can keep.
 * @throws ApiKeyNotFoundError, ApiKeyChangedError when the key that it replaces does not exist, or has another end than expected.
 */
export async function putApiKey(table: Table, key: NewApiKey): Promise<void> {
  const { keyId, tenantId, models, createdAt, digest, name, expiresAt, ratePerMinute } = key
  if (ratePerMinute !== undefined && !isRatePerMinute(ratePerMinute)) {
    throw new RangeError(`${ratePerMinute} requests per minute: use a whole number from 1 to ${RATE_PER_MINUTE_MAX}`)
  }
  const shared = { keyId, tenantId, models, state: 'active', expiresAt: toSeconds(expiresAt), ratePerMinute }
  const ending = key.replaces === undefined ? {} : await endKey(table, key.replaces)
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const tenantState = await readTenantState(table, tenantId)
    const record = { ...shared, suspended: tenantState === 'suspended' ? true : undefined }
    const listing = { ...record, name, createdAt, digest }
    try {
      return await table.transact({
        tenant: { ConditionCheck: isTenantInState(tenantId, tenantState) },
        newKey: { Put: { Item: { ...tableKeys.apiKey(digest), ...record } } },
        newListing: { Put: { Item: { ...tableKeys.apiKeyListing(keyId), ...listing } } },
        ...ending,
      })
    } catch (error) {
      if (!(error instanceof ConditionsNotMetError)) {
        throw error
      }
      if (error.failed.has('key') || error.failed.has('listing')) {
        throw new ApiKeyChangedError(`key ${key.replaces?.keyId} was changed meanwhile: nothing was done`)
      }
    }
  }
  throw new TenantUnsettledError(`tenant ${tenantId} is being suspended and resumed; the key was not stored`)
}

/** Rounds down, so that a key never works longer than it should. */
function toSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.floor(milliseconds / 1000)
}

/**
 * Revokes a key, in one transaction with its listing: its next request is refused, and so is a reservation that is under way.
 * @throws ApiKeyNotFoundError when no key has this id.
 */
export async function revokeApiKey(table: Table, keyId: string): Promise<void> {
  const revocation = await updateKey(table, keyId, {
    UpdateExpression: 'SET #state = :revoked',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':revoked': 'revoked' },
  })
  await table.transact(revocation)
}

/** The listing keeps the first end of the key, so that a second successor gets the key's lifetime and not its last days. */
async function endKey(table: Table, { keyId, expiresAt, endsAt }: ReplacedApiKey): Promise<KeyWrites> {
  const was = expiresAt === null ? undefined : toSeconds(expiresAt)
  return await updateKey(table, keyId, {
    UpdateExpression:
      'SET expiresAt = :expiresAt, endBeforeReplacement = if_not_exists(endBeforeReplacement, :endBefore)',
    ConditionExpression: was === undefined ? 'attribute_not_exists(expiresAt)' : 'expiresAt = :was',
    ExpressionAttributeValues: { ':expiresAt': toSeconds(endsAt), ':endBefore': was ?? null, ':was': was },
  })
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
