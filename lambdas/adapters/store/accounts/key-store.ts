import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type Caller, readCaller } from './api-key-record.ts'

/**
 * Finds the caller of an API key by a strongly consistent read, so that a revoked key is refused at its next request.
 * Undefined for a key that is unknown, revoked, suspended or expired.
 */
export async function findCaller(table: Table, keyDigest: string, nowSeconds: number): Promise<Caller | undefined> {
  return readCaller(await table.readItem(tableKeys.apiKey(keyDigest)), { keyDigest, nowSeconds })
}
