import * as z from 'zod/mini'
import { queryPartition } from './query-items.ts'
import { readItem } from './read-item.ts'
import type { Table } from './table.ts'
import { tableKeys } from './table-keys.ts'
import { transact } from './transaction.ts'

/** An API key as an operator sees it: never the key, only its public id. */
export type ApiKeyListing = {
  readonly keyId: string
  readonly tenantId: string
  readonly state: 'active' | 'revoked'
  /** Models the key may use; null for all. */
  readonly models: readonly string[] | null
  /** Milliseconds. */
  readonly createdAt: number
}

/** No key has this id. */
export class ApiKeyNotFoundError extends Error {
  override readonly name = 'ApiKeyNotFoundError'
}

const listingItem = z.object({
  SK: z.string(),
  tenantId: z.string(),
  state: z.enum(['active', 'revoked']),
  models: z.nullable(z.array(z.string())),
  createdAt: z.number(),
  digest: z.string(),
})

type NewApiKey = Omit<ApiKeyListing, 'state'> & { readonly digest: string }

/** Stores a key by its digest, active. Storing the same key again makes it active again, with the new limits. */
export async function putApiKey(table: Table, key: NewApiKey): Promise<void> {
  const { keyId, tenantId, models, createdAt, digest } = key
  const record = { tenantId, keyId, models, state: 'active' }
  await transact(table, [
    { Put: { TableName: table.name, Item: { ...tableKeys.apiKey(digest), ...record } } },
    { Put: { TableName: table.name, Item: { ...tableKeys.apiKeyListing(keyId), ...record, createdAt, digest } } },
  ])
}

/** Every key of every tenant. */
export async function listApiKeys(table: Table): Promise<ApiKeyListing[]> {
  const listings: ApiKeyListing[] = []
  for await (const item of queryPartition(table, tableKeys.apiKeyListing('').PK)) {
    const { SK: keyId, tenantId, state, models, createdAt } = listingItem.parse(item)
    listings.push({ keyId, tenantId, state, models, createdAt })
  }
  return listings
}

/**
 * Revokes a key, in one transaction with its listing: the next request with it is refused, and so is a reservation that is
 * on its way.
 * @throws ApiKeyNotFoundError when no key has this id.
 */
export async function revokeApiKey(table: Table, keyId: string): Promise<void> {
  const listing = await readItem(table, tableKeys.apiKeyListing(keyId))
  if (listing === undefined) {
    throw new ApiKeyNotFoundError(`no key ${keyId}`)
  }
  const revoke = {
    TableName: table.name,
    UpdateExpression: 'SET #state = :revoked',
    ConditionExpression: 'attribute_exists(PK)',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':revoked': 'revoked' },
  }
  await transact(table, [
    { Update: { ...revoke, Key: tableKeys.apiKey(listingItem.parse(listing).digest) } },
    { Update: { ...revoke, Key: tableKeys.apiKeyListing(keyId) } },
  ])
}
