/**
 * On loopback a cookie reaches every port of the host, so the gateway also wants a secret that only this origin holds. Local storage is kept
 * per origin with its port.
 */
const KEY = 'reelgate.page-secret'

/** The secret of this origin's session; null without one. */
export function pageSecret(): string | null {
  return localStorage.getItem(KEY)
}

/** Keeps the secret of a new session, or forgets the old one. */
export function keepPageSecret(secret: string | undefined): void {
  if (secret === undefined) {
    localStorage.removeItem(KEY)
  } else {
    localStorage.setItem(KEY, secret)
  }
}
