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
