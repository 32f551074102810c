import { randomBytes } from 'node:crypto'
import { formatSessionToken, type KeyOfSession, SESSION_MILLISECONDS, type Session } from '#core/admin/session.ts'
import { randomBase62 } from '../../crypto/random-base62.ts'
import { sha256Hex } from '../../crypto/sha256.ts'
import { auditEntry } from '../audit/audit-entry.ts'
import type { NamedWrites, Table } from '../table/table.ts'
import { sessionItemOf } from './session-record.ts'

const SESSION_ID_CHARACTERS = 16
const SECRET_BYTES = 32

/** Who signs in. */
export type SignedInUser = Pick<Session, 'kind' | 'actor' | 'role' | 'tenant' | 'keyId' | 'holder'> & {
  /** The end of the key, in Unix milliseconds, if it is earlier than that of a session. */
  readonly endsAt?: number | undefined
}

/** How a session is opened. */
type Opening = {
  /** Whether the session needs a secret of the page, as on loopback. */
  readonly hasPageSecret: boolean
  readonly requestId: string | undefined
  readonly nowMilliseconds: number
  /** Writes that must hold for the sign-in, such as the use of a link. */
  readonly alongside?: NamedWrites
}

/** A new session with its secrets, which are stored as digests only. */
type OpenedSession = { readonly session: Session; readonly token: string; readonly pageSecret: string | undefined }

/**
 * Opens a session under a new id and a new secret, in one transaction with the entry of the audit log.
 * @throws ConditionsNotMetError when a write beside it is refused.
 */
export async function openSession(
  table: Pick<Table, 'transact'>,
  { endsAt = Number.POSITIVE_INFINITY, ...user }: SignedInUser,
  { hasPageSecret, requestId, nowMilliseconds: at, alongside = {} }: Opening,
): Promise<OpenedSession> {
  const id = randomBase62(SESSION_ID_CHARACTERS)
  const token = formatSessionToken({ sessionId: id, key: keyOf(user) }, randomSecret())
  const pageSecret = hasPageSecret ? randomSecret() : undefined
  const expiresAt = Math.min(at + SESSION_MILLISECONDS, endsAt)
  const session: Session = { id, ...user, createdAt: at, seenAt: at, expiresAt }
  const pageDigest = pageSecret === undefined ? undefined : sha256Hex(pageSecret)
  const Item = sessionItemOf({ session, digest: sha256Hex(token), pageDigest })
  const { actor: name, role, kind, tenant } = user
  await table.transact({
    session: { Put: { Item, ConditionExpression: 'attribute_not_exists(PK)' } },
    ...alongside,
    audit: auditEntry({
      actor: { name, role, requestId },
      action: 'session create',
      target: { kind: 'console', id, tenantId: tenant?.id },
      before: null,
      after: { kind, role, expires: new Date(expiresAt).toISOString() },
      at,
    }),
  })
  return { session, token, pageSecret }
}

function keyOf({ kind, keyId }: Pick<Session, 'kind' | 'keyId'>): KeyOfSession | undefined {
  return keyId !== null && (kind === 'admin_key' || kind === 'api_key') ? { kind, keyId } : undefined
}

/** 256 random bits in base64url. */
export function randomSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}
