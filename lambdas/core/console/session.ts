import type { Access, Role } from './admin-route.ts'

/** How somebody signed in: with an admin key, an API key, an OpenID provider, or the one-time link of a local host. */
type SessionKind = 'admin_key' | 'api_key' | 'oidc' | 'local'

/** A signed-in user of the console. Times are Unix milliseconds. */
export type Session = {
  /** Public: it names the session in lists and cannot be used to sign in. */
  readonly id: string
  readonly kind: SessionKind
  /** The name of the admin key, the public id of the API key, the name that the provider gives, or `user@host`. */
  readonly actor: string
  readonly role: Role
  /** The tenant of the API key; null for the other kinds, which see every tenant. */
  readonly tenant: SessionTenant | null
  /** The public id of the admin key or API key, whose end is the end of the session; null for the other kinds. */
  readonly keyId: string | null
  /** Names everybody who can be signed out together: one key, one user of the provider, or the users of the local host. */
  readonly holder: string
  readonly createdAt: number
  readonly seenAt: number
  readonly expiresAt: number
}

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

const RANK: Readonly<Record<Access, number>> = { public: 0, tenant: 1, viewer: 2, owner: 3 }

/** Whether a session with this role may call operations with this access. */
export function mayAccess(role: Role, access: Access): boolean {
  return RANK[role] >= RANK[access]
}

/** Whose sessions a user may see and end: owners everybody's, which is undefined, and others those of their own holder. */
export function visibleHolder({ role, holder }: Pick<Session, 'role' | 'holder'>): string | undefined {
  return role === 'owner' ? undefined : holder
}
