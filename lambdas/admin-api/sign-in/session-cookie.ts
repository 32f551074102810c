import { type ConsoleSite, sessionCookieName, setCookie } from '#core/admin/console-site.ts'
import { type ApiEvent, headerOf } from '#middleware/api-event.ts'

type SessionCookie = { readonly token: string; readonly maxAgeSeconds: number }

/**
 * The `Set-Cookie` header of a session. The path keeps the cookie from `/v1`, and `Strict` from every request that a page of
 * another site causes.
 */
export function sessionCookie(event: ApiEvent, site: ConsoleSite, { token, maxAgeSeconds }: SessionCookie): string {
  const name = sessionCookieName(site, headerOf(event, 'host'))
  return setCookie(name, token, { path: '/admin', sameSite: 'Strict', isSecure: !site.isLoopback, maxAgeSeconds })
}

/** The `Set-Cookie` header that removes the session's cookie. */
export function noSessionCookie(event: ApiEvent, site: ConsoleSite): string {
  return sessionCookie(event, site, { token: '', maxAgeSeconds: 0 })
}
