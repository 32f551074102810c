import * as z from 'zod/mini'
import { type KeyOfSession, readSessionToken, type Session } from '#core/admin/session.ts'
import { GIVEN_ROLES } from '#core/roles.ts'
import { isSameString, sha256Hex } from '../../platform/crypto.ts'
import { readCaller } from '../callers.ts'
import type { Item, Table } from '../table/table.ts'
import { isSortKey, tableKeys } from '../table/table-keys.ts'
import { readTenantRecord } from '../tenants/tenants.ts'
import { readAdminKeyRecord } from './admin-keys.ts'

/** A session with the digests that prove it. */
type StoredSession = {
  readonly session: Session
  /** Of the token in the cookie. */
  readonly digest: string
  /** Of the secret that the page holds; on loopback, where pages of other ports send the cookie too. */
  readonly pageDigest: string | undefined
}

const sessionItem = z.object({
  SK: z.string(),
  kind: z.enum(['admin_key', 'api_key', 'oidc', 'local']),
  actor: z.string(),
  role: z.enum([...GIVEN_ROLES, 'tenant']),
  tenant: z.nullable(z.object({ id: z.string(), name: z.string() })),
  assignments: z.optional(
    z.array(
      z.object({ role: z.enum(GIVEN_ROLES), tenant: z.nullable(z.object({ id: z.string(), name: z.string() })) }),
    ),
  ),
  keyId: z.nullable(z.string()),
  holder: z.string(),
  createdAt: z.number(),
  seenAt: z.number(),
  expiresAt: z.number(),
  digest: z.string(),
  pageDigest: z.optional(z.string()),
})

/** Reads a stored session. @throws ZodError for an item that this service did not write. */
export function readSessionRecord(item: unknown): StoredSession {
  const { SK: id, digest, pageDigest, ...fields } = sessionItem.parse(item)
  return { session: { id, ...fields }, digest, pageDigest }
}

/** The item of a session. The table deletes it some time after its end. */
export function sessionItemOf({ session, digest, pageDigest }: StoredSession): Item {
  const { id, ...fields } = session
  return { ...tableKeys.session(id), ...fields, digest, pageDigest, ttl: Math.ceil(session.expiresAt / 1000) }
}

/** What a request shows of a session. */
type ShownSession = {
  /** The value of the cookie. */
  readonly token: string
  /** The secret that the page holds; undefined without one. */
  readonly pageSecret: string | undefined
  readonly nowMilliseconds: number
  /** A tenant to read along; one that cannot be in the table is not found. */
  readonly tenantId?: string | undefined
}

/** A session, and the tenant that was read along; undefined if none was asked for or there is none. */
export type FoundSession = { readonly session: Session; readonly tenant: FoundTenant | undefined }

/** A tenant by its id and its name. */
export type FoundTenant = { readonly id: string; readonly name: string }

/**
 * Finds a session by one request to the table, strongly consistent, which also reads the key that the session depends on: a
 * revoked key ends its sessions at their next request, and the tenant of the page. Undefined for a session that is unknown, over or signed out, whose page
 * secret is wrong, or whose key is revoked, expired or of a suspended tenant.
 */
export async function findSession(
  table: Pick<Table, 'readItems'>,
  { token, pageSecret, nowMilliseconds, tenantId }: ShownSession,
): Promise<FoundSession | undefined> {
  const parts = readSessionToken(token)
  if (parts === undefined) {
    return undefined
  }
  const { sessionId, key } = parts
  const own = [tableKeys.session(sessionId), ...(key === undefined ? [] : [keyItem(key)])]
  const isAskable = tenantId !== undefined && isSortKey(tenantId)
  const items = await table.readItems([...own, ...(isAskable ? [tableKeys.tenant(tenantId)] : [])])
  const [item, keyOfSession] = items.slice(0, own.length)
  if (item === undefined) {
    return undefined
  }
  const tenantItem = items[own.length]
  const stored = readSessionRecord(item)
  const { session } = stored
  const isProved = isSameString(stored.digest, sha256Hex(token)) && isPageOf(stored, pageSecret)
  const isCurrent = session.expiresAt > nowMilliseconds && mayKeyGoOn(key, keyOfSession, nowMilliseconds)
  if (!isProved || !isCurrent) {
    return undefined
  }
  return { session, tenant: tenantItem === undefined ? undefined : nameOf(tenantItem) }
}

/** The name of a tenant that was read along. */
export function nameOf(item: unknown): FoundTenant {
  const { id, name } = readTenantRecord(item)
  return { id, name }
}

function isPageOf({ pageDigest }: StoredSession, pageSecret: string | undefined): boolean {
  return pageDigest === undefined || (pageSecret !== undefined && isSameString(pageDigest, sha256Hex(pageSecret)))
}

/** Where the key of a session is in the table. */
export function keyItem({ kind, keyId }: KeyOfSession) {
  return kind === 'admin_key' ? tableKeys.adminKey(keyId) : tableKeys.apiKeyListing(keyId)
}

/** Whether the sessions of a key may go on, of which the table has this item. An API key goes on by the rules of the API. */
export function mayKeyGoOn(key: KeyOfSession | undefined, item: unknown, nowMilliseconds: number): boolean {
  if (key === undefined) {
    return true
  }
  if (item === undefined) {
    return false
  }
  return key.kind === 'admin_key'
    ? readAdminKeyRecord(item).key.state === 'active'
    : readCaller(item, { keyDigest: '', nowSeconds: Math.trunc(nowMilliseconds / 1000) }) !== undefined
}
