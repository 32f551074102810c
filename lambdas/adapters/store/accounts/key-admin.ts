import * as z from 'zod/mini'
import { isRatePerMinute, RATE_PER_MINUTE_MAX } from '#core/quota/request-rate.ts'
import { ConditionsNotMetError } from '../table/cancelled-transaction.ts'
import { queryPartition } from '../table/query-items.ts'
import { readItem } from '../table/read-item.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type TransactionItem, transact } from '../table/transaction.ts'
import { isTenantInState, readTenantState } from './tenant-state.ts'

/** An API key as an operator sees it: never the key, only its public id. */
export type ApiKeyListing = {
  readonly keyId: string
  readonly tenantId: string
  /** What an operator called it; null for a key without a name. */
  readonly name: string | null
  readonly state: 'active' | 'revoked'
  /** Its tenant is suspended. */
  readonly suspended: boolean
  /** Models the key may use; null for all. */
  readonly models: readonly string[] | null
  /** Milliseconds, on a whole second; null for a key that does not expire. */
  readonly expiresAt: number | null
  /** The end that it had before another key replaced it, in the same form; undefined for one that was never replaced. */
  readonly endBeforeReplacement: number | null | undefined
  /** Requests per minute; null for a key without a limit. */
  readonly ratePerMinute: number | null
  /** Milliseconds. */
  readonly createdAt: number
}

/** No key has this id. */
export class ApiKeyNotFoundError extends Error {
  override readonly name = 'ApiKeyNotFoundError'
}

/** Somebody changed the end of a key that was to be replaced. Nothing was written. */
export class ApiKeyChangedError extends Error {
  override readonly name = 'ApiKeyChangedError'
}

/** A key whose tenant is suspended and resumed over and over again while it is being stored. */
class TenantUnsettledError extends Error {
  override readonly name = 'TenantUnsettledError'
}

const listingItem = z.object({
  SK: z.string(),
  tenantId: z.string(),
  name: z._default(z.nullable(z.string()), null),
  state: z.enum(['active', 'revoked']),
  suspended: z._default(z.boolean(), false),
  models: z.nullable(z.array(z.string())),
  // Unix seconds, as in the record that authentication reads.
  expiresAt: z.optional(z.number()),
  endBeforeReplacement: z.optional(z.nullable(z.number())),
  ratePerMinute: z._default(z.nullable(z.number()), null),
  createdAt: z.number(),
  digest: z.string(),
})

type NewApiKey = Pick<ApiKeyListing, 'keyId' | 'tenantId' | 'models' | 'createdAt'> & {
  readonly digest: string
  readonly name?: string | undefined
  /** Milliseconds. */
  readonly expiresAt?: number | undefined
  readonly ratePerMinute?: number | undefined
  readonly replaces?: ReplacedApiKey | undefined
}

/** A key that ends in the transaction that stores its successor. */
export type ReplacedApiKey = Pick<ApiKeyListing, 'keyId' | 'expiresAt'> & {
  /** Unix milliseconds, cut to whole seconds: later than it would have, or earlier. A revoked key stays revoked. */
  readonly endsAt: number
}

/** Tries to store a key whose tenant is suspended or resumed at the same time. */
const TRIES_MAX = 5

/**
 * Stores a key by its digest, active. Storing the same key again makes it active again, with the new limits. The key of a
 * suspended tenant is suspended with it: the same transaction proves the tenant's state, so that a suspension cannot miss
 * a key that is made meanwhile.
 * @throws RangeError for a rate that no limit can keep.
 * @throws ApiKeyNotFoundError, ApiKeyChangedError when the key that it replaces is not there, or ends otherwise than said.
 */
export async function putApiKey(table: Table, key: NewApiKey): Promise<void> {
  const { keyId, tenantId, models, createdAt, digest, name, expiresAt, ratePerMinute } = key
  if (ratePerMinute !== undefined && !isRatePerMinute(ratePerMinute)) {
    throw new RangeError(`${ratePerMinute} requests per minute: use a whole number from 1 to ${RATE_PER_MINUTE_MAX}`)
  }
  const shared = { keyId, tenantId, models, state: 'active', expiresAt: toSeconds(expiresAt), ratePerMinute }
  const ends = key.replaces === undefined ? [] : await endKey(table, key.replaces)
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const tenantState = await readTenantState(table, tenantId)
    const record = { ...shared, suspended: tenantState === 'suspended' ? true : undefined }
    const listing = { ...record, name, createdAt, digest }
    try {
      return await transact(table, [
        { ConditionCheck: { TableName: table.name, ...isTenantInState(tenantId, tenantState) } },
        { Put: { TableName: table.name, Item: { ...tableKeys.apiKey(digest), ...record } } },
        { Put: { TableName: table.name, Item: { ...tableKeys.apiKeyListing(keyId), ...listing } } },
        ...ends,
      ])
    } catch (error) {
      if (!(error instanceof ConditionsNotMetError)) {
        throw error
      }
      if (ends.length > 0 && error.failed.slice(-ends.length).includes(true)) {
        throw new ApiKeyChangedError(`key ${key.replaces?.keyId} was changed meanwhile: nothing was done`)
      }
    }
  }
  throw new TenantUnsettledError(`tenant ${tenantId} is being suspended and resumed; the key was not stored`)
}

/** A key never works longer than was said. */
function toSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.floor(milliseconds / 1000)
}

function toMilliseconds(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000
}

/** Every key of every tenant. */
export async function listApiKeys(table: Table): Promise<ApiKeyListing[]> {
  const listings: ApiKeyListing[] = []
  for await (const item of queryPartition(table, tableKeys.apiKeyListing('').PK)) {
    const { SK: keyId, digest: _, expiresAt = null, endBeforeReplacement, ...rest } = listingItem.parse(item)
    listings.push({
      keyId,
      ...rest,
      expiresAt: toMilliseconds(expiresAt),
      endBeforeReplacement: endBeforeReplacement === undefined ? undefined : toMilliseconds(endBeforeReplacement),
    })
  }
  return listings
}

/**
 * Revokes a key, in one transaction with its listing: the next request with it is refused, and so is a reservation that is
 * on its way.
 * @throws ApiKeyNotFoundError when no key has this id.
 */
export async function revokeApiKey(table: Table, keyId: string): Promise<void> {
  await transact(
    table,
    await updateKey(table, keyId, {
      UpdateExpression: 'SET #state = :revoked',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':revoked': 'revoked' },
    }),
  )
}

/** The end that it had stays in the listing, so that a second successor has the lifetime of the key and not of its last days. */
async function endKey(table: Table, { keyId, expiresAt, endsAt }: ReplacedApiKey): Promise<TransactionItem[]> {
  const was = expiresAt === null ? undefined : toSeconds(expiresAt)
  const items = await updateKey(table, keyId, {
    UpdateExpression:
      'SET expiresAt = :expiresAt, endBeforeReplacement = if_not_exists(endBeforeReplacement, :endBefore)',
    ExpressionAttributeValues: { ':expiresAt': toSeconds(endsAt), ':endBefore': was ?? null, ':was': was },
  })
  const isAsSaid = was === undefined ? 'attribute_not_exists(expiresAt)' : 'expiresAt = :was'
  return items.map(({ Update }) =>
    Update === undefined
      ? {}
      : { Update: { ...Update, ConditionExpression: `${Update.ConditionExpression} AND ${isAsSaid}` } },
  )
}

/** One change of a key's two items, by its public id. */
type KeyChange = Pick<
  NonNullable<TransactionItem['Update']>,
  'ExpressionAttributeNames' | 'ExpressionAttributeValues'
> & { readonly UpdateExpression: string }

/**
 * The two writes that change a key and its listing alike.
 * @throws ApiKeyNotFoundError when no key has this id.
 */
export async function updateKey(table: Table, keyId: string, change: KeyChange): Promise<TransactionItem[]> {
  const listing = await readItem(table, tableKeys.apiKeyListing(keyId))
  if (listing === undefined) {
    throw new ApiKeyNotFoundError(`no key ${keyId}`)
  }
  const update = { ...change, TableName: table.name, ConditionExpression: 'attribute_exists(PK)' }
  return [
    { Update: { ...update, Key: tableKeys.apiKey(listingItem.parse(listing).digest) } },
    { Update: { ...update, Key: tableKeys.apiKeyListing(keyId) } },
  ]
}
