import * as z from 'zod/mini'
import { PERIOD_KINDS } from '#core/budgets.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { queryPartition } from '../table/query-items.ts'
import type { Table } from '../table/table.ts'
import { isSortKey, tableKeys } from '../table/table-keys.ts'
import type { BudgetOfKey } from './api-key-record.ts'
import { type PlaygroundKeys, readPlaygroundKeys } from './playground-keys.ts'

/** An API key as an operator sees it: never the key, only its public id. */
export type ApiKeyListing = {
  readonly keyId: string
  readonly tenantId: string
  /** The operator's name for the key; null for a key without one. */
  readonly name: string | null
  readonly state: 'active' | 'revoked'
  /** Whether its tenant is suspended. */
  readonly suspended: boolean
  /** Models the key may use; null for all. */
  readonly models: readonly string[] | null
  /** Milliseconds, on a whole second; null for a key that does not expire. */
  readonly expiresAt: number | null
  /** When it would have expired had no key replaced it, in the same form; undefined for a key that was never replaced. */
  readonly endBeforeReplacement: number | null | undefined
  /** Requests per minute; null for a key without a limit. */
  readonly ratePerMinute: number | null
  /** The budget in which its requests count; null without one. */
  readonly budget: BudgetOfKey | null
  /** Milliseconds. */
  readonly createdAt: number
  /** Counts the changes of the key; undefined for a key that was never changed. */
  readonly revision: number | undefined
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
  budgetId: z.optional(z.string()),
  budgetPeriod: z._default(z.enum(PERIOD_KINDS), 'total'),
  createdAt: z.number(),
  digest: z.string(),
  revision: z.optional(z.number()),
})

function toMilliseconds(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000
}

/** Every key of every tenant. */
export async function listApiKeys(table: Table): Promise<ApiKeyListing[]> {
  const listings: ApiKeyListing[] = []
  for await (const item of queryPartition(table, tableKeys.apiKeyListing('').PK)) {
    listings.push(readListing(item).listing)
  }
  return listings
}

/** The models that a key may use; null for all. A key that is gone may use none. */
export async function readApiKeyModels(
  table: Pick<Table, 'readItem'>,
  keyId: string,
): Promise<readonly string[] | null> {
  const item = isSortKey(keyId) ? await table.readItem(tableKeys.apiKeyListing(keyId)) : undefined
  return item === undefined ? [] : readListing(item).listing.models
}

/** Which keys to list. */
type KeyPageWish = {
  readonly limit: number
  /** Keys of this tenant alone. */
  readonly tenantId?: string | undefined
  /** The id of the last key before the page. */
  readonly after?: string | undefined
}

/** Keys that one query reads to find those of a tenant. */
const SEARCHED_MAX = 2_000

/** A page of keys by id, in one query. A page of one tenant may be short. `next` continues the list. */
export async function listApiKeyPage(
  table: Pick<Table, 'queryPage'>,
  { limit, tenantId, after = ' ' }: KeyPageWish,
): Promise<{ readonly keys: readonly ApiKeyListing[]; readonly next: string | undefined }> {
  const { items, nextKey } = await table.queryPage({
    KeyConditionExpression: 'PK = :pk AND SK > :after',
    ExpressionAttributeValues: {
      ':pk': tableKeys.apiKeyListing('').PK,
      ':after': after,
      ...(tenantId === undefined ? {} : { ':tenant': tenantId }),
    },
    ...(tenantId === undefined ? {} : { FilterExpression: 'tenantId = :tenant' }),
    Limit: tenantId === undefined ? limit : SEARCHED_MAX,
    ConsistentRead: true,
  })
  const keys = items.slice(0, limit).map((item) => readListing(item).listing)
  const isCut = items.length > limit
  return { keys, next: isCut ? keys.at(-1)?.keyId : nextKey === undefined ? undefined : String(nextKey.SK) }
}

/** A key with what its changes need. */
type StoredListing = {
  readonly listing: ApiKeyListing
  /** The digest of the key, which finds its other item. */
  readonly digest: string
  /** Keys that the playground made in its name. */
  readonly playground: PlaygroundKeys
}

/** A key by its public id, strongly consistent. @throws StoreRefusal `not_found`. */
export async function getApiKey(table: Table, keyId: string): Promise<StoredListing> {
  const item = isSortKey(keyId) ? await table.readItem(tableKeys.apiKeyListing(keyId)) : undefined
  if (item === undefined) {
    throw new StoreRefusal('not_found', `no key ${keyId}`)
  }
  return readListing(item)
}

function readListing(item: unknown): StoredListing {
  const { SK: keyId, digest, expiresAt = null, endBeforeReplacement, ...fields } = listingItem.parse(item)
  const { budgetId, budgetPeriod: kind, ...rest } = fields
  const listing = {
    keyId,
    revision: undefined,
    ...rest,
    budget: budgetId === undefined ? null : { id: budgetId, kind },
    expiresAt: toMilliseconds(expiresAt),
    endBeforeReplacement: endBeforeReplacement === undefined ? undefined : toMilliseconds(endBeforeReplacement),
  }
  return { listing, digest, playground: readPlaygroundKeys(item) }
}
