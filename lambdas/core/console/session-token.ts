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
