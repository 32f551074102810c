import type * as z from 'zod'
import type { GivenRole, Role } from '../roles.ts'
import type { sessionListResponse, sessionResponse } from './write-responses.ts'

/** How somebody signed in: with an admin key, an API key, an OpenID provider, or the one-time link of a local host. */
type SessionKind = 'admin_key' | 'api_key' | 'oidc' | 'local'

/** A signed-in user of the console, or an admin key that calls the admin API. Times are Unix milliseconds. */
export type Session = {
  /** Public: it names the session in lists and cannot be used to sign in. */
  readonly id: string
  readonly kind: SessionKind
  /** The name of the admin key, the public id of the API key, the name that the provider gives, or `user@host`. */
  readonly actor: string
  readonly role: Role
  /** The tenant of a role of one tenant; null for the others, which see every tenant. */
  readonly tenant: SessionTenant | null
  /** What a user of an OpenID provider may switch to, with what the session has now; undefined for the other kinds. */
  readonly assignments?: readonly Assignment[] | undefined
  /** The public id of the admin key or API key, whose end is the end of the session; null for the other kinds. */
  readonly keyId: string | null
  /** Names everybody who can be signed out together: one key, one user of the provider, or the users of the local host. */
  readonly holder: string
  readonly createdAt: number
  readonly seenAt: number
  readonly expiresAt: number
}

/** A role that rules give to a user: of one tenant, or of all for null. */
export type Assignment = { readonly role: GivenRole; readonly tenant: SessionTenant | null }

/** A tenant as a session shows it. */
type SessionTenant = { readonly id: string; readonly name: string }

/** The longest session: a working day. */
export const SESSION_MILLISECONDS = 12 * 60 * 60 * 1000

/** A session is seen at most this often, because each time is a write. */
const SEEN_MILLISECONDS = 5 * 60 * 1000

/** Whether the table should learn that the session is in use. */
export function isDueToBeSeen({ seenAt }: Pick<Session, 'seenAt'>, nowMilliseconds: number): boolean {
  return nowMilliseconds - seenAt >= SEEN_MILLISECONDS
}

/** Whose sessions a user may see and end: owners everybody's, which is undefined, and others those of their own holder. */
export function visibleHolder({ role, holder }: Pick<Session, 'role' | 'holder'>): string | undefined {
  return role === 'owner' ? undefined : holder
}

/** Base62: 62^16 sessions do not meet. */
const SESSION_ID = '[0-9A-Za-z]{16}'

/** 256 bits in base64url. */
const SECRET = '[0-9A-Za-z_-]{43}'

/**
 * `<session id>.<key>.<secret>`. The second part says which key must still be active, so that one request to the table reads
 * the session and that key: `a` and the id of an admin key, `k` and the id of an API key, or `n` for neither. The token is
 * stored as its digest, so no part of it can be changed.
 */
const TOKEN = new RegExp(`^(${SESSION_ID})\\.(?:([ak])([0-9A-Za-z]{1,64})|n)\\.${SECRET}$`)

const SESSION_ID_ALONE = new RegExp(`^${SESSION_ID}$`)

/** Whether a string has the form of the id of a session. */
export function isSessionId(id: string): boolean {
  return SESSION_ID_ALONE.test(id)
}

/** A key whose end is the end of a session. */
export type KeyOfSession = { readonly kind: 'admin_key' | 'api_key'; readonly keyId: string }

/** What a token says of itself. Nothing of it is proved. */
export type TokenParts = { readonly sessionId: string; readonly key: KeyOfSession | undefined }

/** Reads a token; undefined for any other string. */
export function readSessionToken(token: string): TokenParts | undefined {
  const [, sessionId, letter, keyId] = TOKEN.exec(token) ?? []
  if (sessionId === undefined) {
    return undefined
  }
  const kind = letter === 'a' ? 'admin_key' : 'api_key'
  return { sessionId, key: keyId === undefined ? undefined : { kind, keyId } }
}

/** Makes a token of an id, the key that must stay active, and 32 random bytes in base64url. */
export function formatSessionToken({ sessionId, key }: TokenParts, secret: string): string {
  const named = key === undefined ? 'n' : `${key.kind === 'admin_key' ? 'a' : 'k'}${key.keyId}`
  return `${sessionId}.${named}.${secret}`
}

/** A session as its user sees it. @param pageSecret in the response to a sign-in alone. */
export function sessionView(session: Session, pageSecret?: string): z.infer<typeof sessionResponse> {
  const shown = { object: 'session' as const, ...fieldsOf(session), assignments: [...(session.assignments ?? [])] }
  return pageSecret === undefined ? shown : { ...shown, page_secret: pageSecret }
}

/** A session in a list. @param currentId the id of the session of the request. */
export function sessionRow(session: Session, currentId: string): z.infer<typeof sessionListResponse>['data'][number] {
  return { ...fieldsOf(session), seen_at: seconds(session.seenAt), current: session.id === currentId }
}

function fieldsOf({ id, kind, actor, role, tenant, createdAt, expiresAt }: Session) {
  return { id, kind, actor, role, tenant, created_at: seconds(createdAt), expires_at: seconds(expiresAt) }
}

function seconds(milliseconds: number): number {
  return Math.trunc(milliseconds / 1000)
}
