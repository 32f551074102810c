/**
 * On loopback a cookie reaches every port of the host, so the gateway also wants a secret that only this origin holds. Local storage is kept
 * per origin with its port.
 */
const KEY = 'reelgate.page-secret'

/** Unix milliseconds until which a sign-in that began here may hand over a secret. */
const EXPECTED = 'reelgate.page-secret-expected'

/** As long as the gateway waits for somebody who is at an OpenID provider. */
const EXPECTED_MILLISECONDS = 600_000

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

/** Notes that a sign-in at a provider begins here; its end hands over a secret. */
export function expectPageSecret(): void {
  localStorage.setItem(EXPECTED, String(Date.now() + EXPECTED_MILLISECONDS))
}

/**
 * Keeps a secret that was handed over in the url, once for each sign-in that began here. Any site can open an address of the console, and
 * would otherwise end the session, or put its own in the place.
 */
export function takePageSecret(secret: string): void {
  const isExpected = Number(localStorage.getItem(EXPECTED)) > Date.now()
  localStorage.removeItem(EXPECTED)
  if (isExpected) {
    keepPageSecret(secret)
  }
}
