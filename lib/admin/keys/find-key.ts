import { type ApiKeyListing, getApiKey, listApiKeys } from '#adapters/store/accounts/api-key-listing.ts'
import { isRefusal, StoreRefusal } from '#adapters/store/store-refusal.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { stateOf } from '#lambdas/admin/keys/key-state.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { CommandOption } from '../command-line/command.ts'

/** The option that names a key. */
export const KEY = {
  value: 'ID|NAME',
  summary: 'the key, by its public id or by a name that no other usable key has',
  required: true,
} as const satisfies CommandOption

/**
 * A key by its public id, with one read, or by its name, with a query of all keys. An id counts before a name. A successor has the name of
 * the key that it replaced, so of several keys with a name, the one that can still be used is meant.
 * @throws StoreRefusal `not_found`; UsageError for a name of several keys, with their ids.
 */
export async function findKey(table: Table, idOrName: string): Promise<ApiKeyListing> {
  const withId = await readKey(table, idOrName)
  if (withId !== undefined) {
    return withId
  }
  const named = (await listApiKeys(table)).filter(({ name }) => name === idOrName)
  const usable = named.filter((key) => ['active', 'suspended'].includes(stateOf(key, Date.now())))
  const [found, ...others] = usable.length > 0 ? usable : named
  if (found === undefined) {
    throw new StoreRefusal('not_found', `no key ${idOrName}`)
  }
  if (others.length > 0) {
    const ids = [found, ...others].map(({ keyId, tenantId }) => `${keyId} of tenant ${tenantId}`).join(', ')
    throw new UsageError(`--key ${idOrName}: ${others.length + 1} keys have this name; use the id: ${ids}`)
  }
  return found
}

async function readKey(table: Table, keyId: string): Promise<ApiKeyListing | undefined> {
  try {
    return (await getApiKey(table, keyId)).listing
  } catch (error) {
    if (isRefusal(error, 'not_found')) {
      return undefined
    }
    throw error
  }
}
