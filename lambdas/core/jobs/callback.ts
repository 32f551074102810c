import { hasEnded, type VideoJob } from './video-job.ts'

/**
 * The verdict on a callback url. A url that matches an `origin` may be plain http and private; one that matches a `host` may
 * not. `reason` continues a sentence that begins with the name of the field.
 */
export type CallbackUrlCheck =
  | { readonly allowed: true; readonly url: URL; readonly match: 'host' | 'origin' }
  | { readonly allowed: false; readonly reason: string }

/** The usual limit of clients and proxies. */
const CALLBACK_URL_CHARACTERS_MAX = 2048

/** Most characters of a DNS name. */
const HOST_CHARACTERS_MAX = 253

/** Parsers disagree on `#`, `\`, whitespace, control characters and non-ASCII characters. An empty string has none of them. */
const SAFE_CHARACTERS = /^[\x21\x22\x24-\x5b\x5d-\x7e]*$/

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'

/** The last label begins with a letter, because some parsers read a name that ends in digits or `0x7f` as an IPv4 address. */
const HTTPS_URL = new RegExp(`^https://((?:${LABEL}\\.)*(?=[a-z])${LABEL})(?::443)?(?:[/?].*)?$`, 'i')

/**
 * Decides whether a callback may go to this url (docs/decisions/0020), both when a job is created and when its
 * callback is sent. The addresses of the host are checked when the connection is made.
 *
 * Entries are an exact host (`hooks.example.com`), a suffix (`*.partner.example`, at any depth, without the suffix itself) or
 * an origin (`http://127.0.0.1:9400`), which allows urls that begin with exactly that string; `:*` stands for any port of it.
 */
export function checkCallbackUrl(raw: string, allowlist: readonly string[]): CallbackUrlCheck {
  if (raw.length > CALLBACK_URL_CHARACTERS_MAX) {
    return refused(`must be at most ${CALLBACK_URL_CHARACTERS_MAX} characters`)
  }
  if (!SAFE_CHARACTERS.test(raw)) {
    return refused('must be printable ASCII without "#" and "\\"')
  }
  const origin = allowlist
    .flatMap((entry) => (entry.includes('://') ? (originIn(raw, entry) ?? []) : []))
    .find((each) => beginsWithOrigin(raw, each))
  if (origin !== undefined) {
    return checkTrustedOrigin(raw, origin)
  }
  const host = HTTPS_URL.exec(raw)?.[1]?.toLowerCase()
  if (host === undefined || host.length > HOST_CHARACTERS_MAX) {
    return refused(
      `must be an https url with a host name, on port 443, without a user name or password${orLocal(allowlist)}`,
    )
  }
  const url = URL.parse(raw)
  if (url === null || url.hostname !== host || !isValidInternationalName(host)) {
    return refused('must have a valid host name')
  }
  if (!allowlist.some((entry) => matchesHostEntry(host, entry))) {
    return refused(
      `must have a host on the allowlist of the gateway: ask its operator to add the host${orLocal(allowlist)}`,
    )
  }
  return { allowed: true, url, match: 'host' }
}

function refused(reason: string): CallbackUrlCheck {
  return { allowed: false, reason }
}

/** What a local host takes besides: only its own entries are for any port. */
function orLocal(allowlist: readonly string[]): string {
  const origins = allowlist.filter((entry) => entry.endsWith(':*')).map((entry) => entry.replace(/\*$/, 'PORT'))
  return origins.length === 0
    ? ''
    : `. This local host also takes ${origins.join(', ')}, and what \`callback_allowlist\` of its configuration names`
}

/** The origin of an entry; of one with any port, the origin with the port of the url. */
function originIn(raw: string, entry: string): string | undefined {
  if (!entry.endsWith(':*')) {
    return entry
  }
  const prefix = entry.slice(0, -1)
  const port = raw.startsWith(prefix) ? /^\d{1,5}/.exec(raw.slice(prefix.length))?.[0] : undefined
  return port === undefined ? undefined : prefix + port
}

/** Compares strings, so that no parser's idea of equal origins widens the entry. */
function beginsWithOrigin(raw: string, origin: string): boolean {
  return raw.startsWith(origin) && ['', '/', '?'].includes(raw.charAt(origin.length))
}

function checkTrustedOrigin(raw: string, origin: string): CallbackUrlCheck {
  const url = URL.parse(raw)
  const trusted = URL.parse(origin)
  const isWebUrl = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url === null || trusted === null || !isWebUrl || url.origin !== trusted.origin || hasCredentials(url)) {
    return refused('must be a valid url of the allowed origin, without a user name or password')
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
 * The URL parser does not check an all-ASCII host, malformed `xn--` labels included. A label outside ASCII makes it check every
 * label: `\u00fc` becomes `xn--tda`, and the rest must stay unchanged.
 */
function isValidInternationalName(host: string): boolean {
  return !host.includes('xn--') || URL.parse(`https://\u00fc.${host}`)?.hostname === `xn--tda.${host}`
}

/** How often the callback of a job may be sent again. */
export const RESENDS_MAX = 10

type Resendable = Pick<VideoJob, 'status' | 'cancelledAt' | 'callbackUrl' | 'callbackResends'>

/** Why the callback of a job cannot be sent again now, as clients read it; undefined if it can. */
export function resendRefusal(job: Resendable): string | undefined {
  if (job.callbackUrl === undefined) {
    return 'the job was created without a callback_url'
  }
  if (!hasEnded(job)) {
    return 'the job has not ended: its callback is sent when it ends'
  }
  return (job.callbackResends ?? 0) >= RESENDS_MAX
    ? `the callback was sent again ${RESENDS_MAX} times: fetch the job instead`
    : undefined
}
