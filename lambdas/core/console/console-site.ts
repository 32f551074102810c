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
