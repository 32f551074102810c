/** The verdict on a callback url. `match` tells how it was allowed: an `origin` may be plain http and private, a `host` never. */
export type CallbackUrlCheck =
  | { readonly allowed: true; readonly url: URL; readonly match: 'host' | 'origin' }
  | { readonly allowed: false; readonly reason: string }

/** Longer urls are refused; the usual limit of clients and proxies. */
const CALLBACK_URL_CHARACTERS_MAX = 2048

/** A DNS name without its dots has at most 253 characters. */
const HOST_CHARACTERS_MAX = 253

/** `#`, `\`, whitespace, control characters and anything that is not ASCII are read differently by different parsers. */
const SAFE_CHARACTERS = /^[\x21\x22\x24-\x5b\x5d-\x7e]+$/

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'

/** The last label begins with a letter: a name that ends in digits (or `0x7f`) is an IPv4 address to some parser. */
const HTTPS_URL = new RegExp(`^https://((?:${LABEL}\\.)*(?=[a-z])${LABEL})(?::443)?(?:[/?].*)?$`, 'i')

/**
 * Decides whether a callback may go to this url (docs/decisions/0020). Pure: what the name resolves to is checked
 * when the connection is made. Called when a job is created and again when its callback is sent.
 *
 * Entries are an exact host (`hooks.example.com`), a suffix (`*.partner.example`, any depth, never the suffix itself) or a full
 * origin (`http://127.0.0.1:9400`), which allows what begins with exactly that text.
 */
export function checkCallbackUrl(raw: string, allowlist: readonly string[]): CallbackUrlCheck {
  if (raw.length > CALLBACK_URL_CHARACTERS_MAX) {
    return refused(`is longer than ${CALLBACK_URL_CHARACTERS_MAX} characters`)
  }
  if (!SAFE_CHARACTERS.test(raw)) {
    return refused('may hold printable ASCII only, without "#" and "\\"')
  }
  const origin = allowlist.find((entry) => entry.includes('://') && beginsWithOrigin(raw, entry))
  if (origin !== undefined) {
    return checkTrustedOrigin(raw, origin)
  }
  const host = HTTPS_URL.exec(raw)?.[1]?.toLowerCase()
  if (host === undefined || host.length > HOST_CHARACTERS_MAX) {
    return refused('must be an https url with a host name, port 443 and no user name or password')
  }
  const url = URL.parse(raw)
  if (url === null || url.hostname !== host || !isValidInternationalName(host)) {
    return refused('has a host name that is not valid')
  }
  if (!allowlist.some((entry) => matchesHostEntry(host, entry))) {
    return refused('has a host that is not on the allowlist')
  }
  return { allowed: true, url, match: 'host' }
}

function refused(reason: string): CallbackUrlCheck {
  return { allowed: false, reason }
}

/** Compared as text, so that no parser's idea of an equal origin widens what the operator wrote. */
function beginsWithOrigin(raw: string, origin: string): boolean {
  return raw.startsWith(origin) && ['', '/', '?'].includes(raw.charAt(origin.length))
}

function checkTrustedOrigin(raw: string, origin: string): CallbackUrlCheck {
  const url = URL.parse(raw)
  const trusted = URL.parse(origin)
  const isWebUrl = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url === null || trusted === null || !isWebUrl || url.origin !== trusted.origin || hasCredentials(url)) {
    return refused('does not parse to the origin on the allowlist')
  }
  return { allowed: true, url, match: 'origin' }
}

function hasCredentials(url: URL): boolean {
  return url.username !== '' || url.password !== ''
}

function matchesHostEntry(host: string, entry: string): boolean {
  return entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry
}

/**
 * The URL parser takes an all-ASCII host as it is, malformed `xn--` labels included. One label outside ASCII makes it check
 * every label: `\u00fc` becomes `xn--tda`, and the rest must come out unchanged.
 */
function isValidInternationalName(host: string): boolean {
  return !host.includes('xn--') || URL.parse(`https://\u00fc.${host}`)?.hostname === `xn--tda.${host}`
}
