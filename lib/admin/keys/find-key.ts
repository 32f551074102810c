import { type ApiKeyListing, ApiKeyNotFoundError, listApiKeys } from '#adapters/store/accounts/api-key-listing.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { CommandOption } from '../command-line/command.ts'
import { stateOf } from './describe-key.ts'

/** The option that names a key. */
export const KEY = {
  value: 'ID|NAME',
  summary: 'the key, by its public id or by a name that no other usable key has',
  required: true,
} as const satisfies CommandOption

/**
 * A key by its public id or its name. An id counts before a name. A successor has the name of the key that it replaced, so of several keys
 * with a name, the one that can still be used is meant.
 * @throws ApiKeyNotFoundError; UsageError for a name of several keys, with their ids.
 */
export async function findKey(table: Table, idOrName: string): Promise<ApiKeyListing> {
  const keys = await listApiKeys(table)
  const named = keys.filter(({ name }) => name === idOrName)
  const usable = named.filter((key) => ['active', 'suspended'].includes(stateOf(key, Date.now())))
  const candidates = usable.length > 0 ? usable : named
  const found = keys.find(({ keyId }) => keyId === idOrName) ?? candidates[0]
  if (found === undefined) {
    throw new ApiKeyNotFoundError(`no key ${idOrName}`)
  }
  if (found.keyId !== idOrName && candidates.length > 1) {
    const ids = candidates.map(({ keyId, tenantId }) => `${keyId} of tenant ${tenantId}`).join(', ')
    throw new UsageError(`--key ${idOrName}: ${candidates.length} keys have this name; use the id: ${ids}`)
  }
  return found
}
