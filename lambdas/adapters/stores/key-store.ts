import * as z from 'zod/mini'
import { readItem } from './read-item.ts'
import type { Table } from './table.ts'
import { tableKeys } from './table-keys.ts'

/** Who calls: the tenant, and what the key may do. */
export type Caller = {
  readonly tenantId: string
  readonly keyId: string
  readonly keyDigest: string
  /** Models the key may use; null for all. */
  readonly models: readonly string[] | null
}

const apiKeyItem = z.object({
  tenantId: z.string(),
  keyId: z.string(),
  state: z.enum(['active', 'revoked']),
  models: z.nullable(z.array(z.string())),
  expiresAt: z.optional(z.number()),
})

/**
 * Looks an API key up by its digest, strongly consistent, so that revoking holds at the next request.
 * Undefined for a key that is unknown, revoked or expired.
 */
export async function findCaller(table: Table, keyDigest: string, nowSeconds: number): Promise<Caller | undefined> {
  return readCaller(await readItem(table, tableKeys.apiKey(keyDigest)), { keyDigest, nowSeconds })
}

/** The caller that a key's record names; undefined for a record that is missing, revoked or expired. */
export function readCaller(
  item: unknown,
  { keyDigest, nowSeconds }: { keyDigest: string; nowSeconds: number },
): Caller | undefined {
  if (item === undefined) {
    return undefined
  }
  const { tenantId, keyId, state, models, expiresAt } = apiKeyItem.parse(item)
  const isUsable = state === 'active' && (expiresAt === undefined || expiresAt > nowSeconds)
  return isUsable ? { tenantId, keyId, keyDigest, models } : undefined
}
