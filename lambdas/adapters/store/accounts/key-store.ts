import { readItem } from '../table/read-item.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type Caller, readCaller } from './api-key-record.ts'

/**
 * Looks an API key up by its digest, strongly consistent, so that revoking holds at the next request.
 * Undefined for a key that is unknown, revoked, suspended or expired.
 */
export async function findCaller(table: Table, keyDigest: string, nowSeconds: number): Promise<Caller | undefined> {
  return readCaller(await readItem(table, tableKeys.apiKey(keyDigest)), { keyDigest, nowSeconds })
}
