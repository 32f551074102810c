/** Where the console is served. */
export type ConsoleSite = {
  /** Whether the gateway runs on this machine and is reached over plain http. */
  readonly isLoopback: boolean
  /** The origins of the console; the first one is where an OpenID provider sends its users back. Empty on loopback. */
  readonly origins: readonly string[]
}

/** The value of `CONSOLE_ORIGIN` on a local host, whose address is in each request. */
const LOOPBACK = 'loopback'

/** Reads `CONSOLE_ORIGIN`: `loopback`, or origins separated by spaces. Without it no page is a page of the console. */
export function consoleSite(value: string | undefined): ConsoleSite {
  const isLoopback = value === LOOPBACK
  const origins = isLoopback ? [] : (value ?? '').split(' ').filter((origin) => origin !== '')
  return { isLoopback, origins }
}

/** Names that resolve to this machine without a name server. A page of any other name that points here is an attack. */
const LOOPBACK_HOST = /^(([a-z0-9-]+\.)*localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i

/** Whether a `Host` header names this machine. */
export function isLoopbackHost(host: string | undefined): boolean {
  return LOOPBACK_HOST.test(host ?? '')
}

/** The origin to which a request belongs: that of its `Host` header on loopback, or else the first configured one. */
export function originOf(site: ConsoleSite, host: string | undefined): string | undefined {
  if (!site.isLoopback) {
    return site.origins[0]
  }
  return isLoopbackHost(host) ? `http://${host?.toLowerCase()}` : undefined
}

/** Whether a page of this origin is a page of the console. */
export function isConsoleOrigin(
  origin: string | undefined,
  { site, host }: { readonly site: ConsoleSite; readonly host: string | undefined },
): boolean {
  return origin !== undefined && (site.isLoopback ? origin === originOf(site, host) : site.origins.includes(origin))
}

const COOKIE = 'rg_console'

/**
 * The name of the session's cookie. Browsers take `__Secure-` over https only. On loopback, where cookies ignore ports, the port
 * is in the name, so that two gateways on one machine keep two sessions.
 */
export function sessionCookieName(site: ConsoleSite, host: string | undefined): string {
  const port = /:(\d+)$/.exec(host ?? '')?.[1]
  return site.isLoopback ? `${COOKIE}${port === undefined ? '' : `_${port}`}` : `__Secure-${COOKIE}`
}

/** What a browser says about the page that sends a request. */
export type SenderFacts = {
  readonly method: string
  readonly origin: string | undefined
  /** `Sec-Fetch-Site`, which older browsers do not send. */
  readonly fetchSite: string | undefined
  /** `x-reelgate-console`, which no form and no page of another origin can send. */
  readonly consoleHeader: string | undefined
  /** Undefined for a request without a body. */
  readonly contentType: string | undefined
  /** The `Host` header. */
  readonly host: string | undefined
}

/** Methods that change nothing. */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD']

const JSON_TYPE = /^application\/json\s*(;|$)/i

/**
 * Why a request may not come from a page of the console; undefined for one that does. Each rule alone refuses requests of other
 * sites: they stand together because browsers differ.
 */
export function crossSiteProblem(facts: SenderFacts, site: ConsoleSite): string | undefined {
  if (SAFE_METHODS.includes(facts.method)) {
    return undefined
  }
  if (facts.consoleHeader !== '1') {
    return 'send the header `x-reelgate-console: 1`'
  }
  if (!isConsoleOrigin(facts.origin, { site, host: facts.host })) {
    return 'the header `Origin` must name the origin of the console'
  }
  if (facts.fetchSite !== undefined && facts.fetchSite !== 'same-origin') {
    return 'the request must come from a page of the console'
  }
  return facts.contentType === undefined || JSON_TYPE.test(facts.contentType)
    ? undefined
    : 'the content type of the body must be `application/json`'
}

/** Longer than any page with its filters. */
const CHARACTERS_MAX = 1_000

/** A path of the console with its query: unreserved and percent-encoded characters, no empty segment, no fragment. */
const TARGET = /^\/console(?:\/[\w.~%:@+-]+)*(?:\?[\w.~%!$()*,;:@/?&=+-]*)?$/

/**
 * Whether a string names a page of the console, as a sign-in may come back to it: a path below `/console` with a query, and nothing that
 * a browser reads as another path or another origin.
 */
export function isConsoleTarget(target: string): boolean {
  if (target.length > CHARACTERS_MAX || !TARGET.test(target) || !URL.canParse(target, BASE)) {
    return false
  }
  const { origin, pathname, search } = new URL(target, BASE)
  return origin === BASE && target === `${pathname}${search}`
}

/** Any origin: a target has none. */
const BASE = 'https://console.invalid'

/** Every value of a cookie in `Cookie` headers, in their order. */
export function cookieValues(headers: readonly string[], name: string): string[] {
  return headers
    .flatMap((header) => header.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}

/** How long and where a browser keeps a cookie. */
export type CookieSettings = {
  readonly path: string
  readonly sameSite: 'Strict' | 'Lax'
  /** Over https only; not on loopback, where not every browser takes such a cookie. */
  readonly isSecure: boolean
  /** 0 deletes the cookie. */
  readonly maxAgeSeconds: number
}

/** A `Set-Cookie` header. No script can read the cookie. */
export function setCookie(
  name: string,
  value: string,
  { path, sameSite, isSecure, maxAgeSeconds }: CookieSettings,
): string {
  const secure = isSecure ? '; Secure' : ''
  return `${name}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`
}
