import * as z from 'zod/mini'
import { adminKeyIdOf, isLikeAdminKey, isPlausibleKey } from '#core/api-key.ts'
import { isSameString } from '../../crypto/same-string.ts'
import { sha256Hex } from '../../crypto/sha256.ts'
import { callerOf, readApiKeyRecord } from '../accounts/api-key-record.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { readAdminKeyRecord } from './admin-keys.ts'
import type { SignedInUser } from './open-session.ts'

/**
 * The user of an admin key or an API key; undefined for a key that is unknown or may not be used now. For an unknown key and
 * a revoked one the same is read and compared.
 */
export async function findUserOfKey(
  table: Table,
  key: string,
  nowMilliseconds: number,
): Promise<SignedInUser | undefined> {
  return isLikeAdminKey(key) ? await userOfAdminKey(table, key) : await userOfApiKey(table, key, nowMilliseconds)
}

async function userOfAdminKey(table: Table, key: string): Promise<SignedInUser | undefined> {
  const keyId = adminKeyIdOf(key)
  const item = keyId === undefined ? undefined : await table.readItem(tableKeys.adminKey(keyId))
  const stored = item === undefined ? undefined : readAdminKeyRecord(item)
  const isSame = isSameString(stored?.digest ?? NO_DIGEST, sha256Hex(key))
  if (keyId === undefined || stored === undefined || !isSame || stored.key.state !== 'active') {
    return undefined
  }
  const { name, role } = stored.key
  return {
    kind: 'admin_key',
    actor: `${name} (${keyId})`,
    role,
    tenant: null,
    keyId,
    holder: `admin_key:${keyId}`,
  }
}

/** As long as a digest, and none. */
const NO_DIGEST = '-'.repeat(64)

const named = z.object({ name: z.string() })
const listed = z.object({ digest: z.string() })

/** Short-lived keys of the playground have no listing, and cannot sign in. */
async function userOfApiKey(table: Table, key: string, nowMilliseconds: number): Promise<SignedInUser | undefined> {
  const keyDigest = sha256Hex(key)
  const item = isPlausibleKey(key) ? await table.readItem(tableKeys.apiKey(keyDigest)) : undefined
  const record = item === undefined ? undefined : readApiKeyRecord(item, keyDigest)
  const caller = record === undefined ? undefined : callerOf(record, Math.trunc(nowMilliseconds / 1000))
  if (record === undefined || caller === undefined) {
    return undefined
  }
  const { keyId, tenantId: id } = caller
  const [tenant, listing] = await table.readItems([tableKeys.tenant(id), tableKeys.apiKeyListing(keyId)])
  if (tenant === undefined || listing === undefined || listed.parse(listing).digest !== keyDigest) {
    return undefined
  }
  return {
    kind: 'api_key',
    actor: `key ${keyId}`,
    role: 'tenant',
    tenant: { id, name: named.parse(tenant).name },
    keyId,
    holder: `api_key:${keyId}`,
    endsAt: record.expiresAt === undefined ? undefined : record.expiresAt * 1000,
  }
}
