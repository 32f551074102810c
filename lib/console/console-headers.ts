/** Where the console is served and what it may load. */
export type ConsoleHeaderOptions = {
  /** The origin of stored videos, if it is not the origin of the console. */
  readonly videoOrigin?: string | undefined
  /** Whether browsers are told to use TLS alone; false on loopback. */
  readonly isTls: boolean
}

/** A year and two months, the least that preload lists of browsers accept being a year. */
const TLS_SECONDS = 36_000_000

/**
 * The security headers of every file of the console. The policy allows its own origin, no inline script and no string that becomes
 * script (Trusted Types). `blob:` is for files that the page makes itself.
 */
export function consoleHeaders({ videoOrigin, isTls }: ConsoleHeaderOptions): Record<string, string> {
  return {
    'content-security-policy': contentSecurityPolicy(videoOrigin),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(isTls ? { 'strict-transport-security': `max-age=${TLS_SECONDS}; includeSubDomains` } : {}),
  }
}

/** The policy of the console's pages; the origin of videos is added where media are shown. */
function contentSecurityPolicy(videoOrigin?: string): string {
  const media = ["'self'", 'blob:', ...(videoOrigin === undefined ? [] : [videoOrigin])].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${media}`,
    `media-src ${media}`,
    "connect-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}

/** Files below this path have a hash of their content in their names. */
const HASHED = /^\/console\/assets\//

/** Hashed files never change; the page that names them must be asked for each time. */
export function consoleCacheControl(path: string): string {
  return HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-store'
}
