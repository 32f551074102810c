import * as z from 'zod/mini'
import type { Session } from '#core/admin/session.ts'
import type { Item } from '../table/item-codec.ts'
import { tableKeys } from '../table/table-keys.ts'

/** A session with the digests that prove it. */
export type StoredSession = {
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
  role: z.enum(['tenant', 'viewer', 'owner']),
  tenant: z.nullable(z.object({ id: z.string(), name: z.string() })),
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
