import { firstOf, memberAt, nonBlank } from './json-reading.ts'

/** What an error body says. Every part may be missing. */
export type UpstreamError = {
  readonly code: string | undefined
  readonly type: string | undefined
  readonly message: string | undefined
}

/**
 * Whose fault an error code names: the words of the prompt or the result (`content_policy`), the rest of the request
 * (`request`), the account, key or model behind the channel (`channel`), or the moment (`busy`).
 */
export type ErrorMeaning = 'content_policy' | 'channel' | 'busy' | 'request'

/** Upstream messages reach the client in a job; no real one comes near this many characters. */
const MESSAGE_CHARACTERS_MAX = 2_000

/** Codes that wrap an answer which went well. */
const SUCCESS_CODE = /^(success|succeeded|ok|0|20\d)?$/i

/**
 * The code tables of P1, P2 and public proxies, first match counts: an allocation quota of the account is a kind of
 * throttling by name only, waiting does not help.
 */
const CODE_MEANINGS: readonly (readonly [RegExp, ErrorMeaning])[] = [
  [/DataInspection|Sensitive|RiskDetection|content_?policy|content_?filter|moderation/i, 'content_policy'],
  [/^Arrearage|Overdue|NotPurchased|Unpurchased|^insufficient_/i, 'channel'],
  [/AllocationQuota|^QuotaExceeded|^SetLimitExceeded/i, 'channel'],
  [/^AccessDenied|\.AccessDenied|^OperationDenied|^Authentication|^Invalid_?Api_?Key|^40[1-5]$/i, 'channel'],
  [/^Model_?Not_?(Found|Open)|^WorkSpaceNotFound|^InvalidEndpoint/i, 'channel'],
  [/Throttling|Rate_?Limit|LimitRequests|RequestBurst|InflightBatch|Overloaded|too_?many_?requests|^429$/i, 'busy'],
  [/^InvalidParameter|^MissingParameter|^InvalidURL|^InvalidAction|^UnsupportedOperation|^BadRequest/i, 'request'],
  [/^invalid_?request|^invalid_parameter|^4(00|09|13|15|22)$/i, 'request'],
]

/** Proxies that run dry say so in words, under any code. */
const OUT_OF_MONEY = /insufficient\s+(account\s+|user\s+)?(balance|quota|credits?|funds)/i

const UNKNOWN_TASK = /task_?not_?(exists?|found)|^ResourceNotFound|^404$/i

/** Reads P1's flat error, P2's error object, and the envelopes of proxies (`error` as text, `code` with `message`). */
export function readUpstreamError(body: unknown): UpstreamError {
  const error = memberAt(body, 'error')
  return {
    code: firstOf([memberAt(error, 'code'), memberAt(body, 'code')].map(errorCode)),
    type: nonBlank(memberAt(error, 'type')),
    message: upstreamWords([error, memberAt(error, 'message'), memberAt(body, 'message')]),
  }
}

/** The first of several places that holds words for a person, cut to a bound. */
export function upstreamWords(places: readonly unknown[]): string | undefined {
  return firstOf(places.map(nonBlank))?.slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed()
}

/** A code that names an error: text or a number, undefined for the codes of success. */
function errorCode(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && !SUCCESS_CODE.test(text) ? text : undefined
}

/** Undefined when neither code, type nor message tells. */
export function errorMeaning({ code, type, message }: UpstreamError): ErrorMeaning | undefined {
  const byName = firstOf([meaningOfName(code), meaningOfName(type)])
  return byName === undefined || byName === 'request' ? (meaningOfMessage(message) ?? byName) : byName
}

function meaningOfName(name: string | undefined): ErrorMeaning | undefined {
  return name === undefined ? undefined : CODE_MEANINGS.find(([pattern]) => pattern.test(name))?.[1]
}

function meaningOfMessage(message: string | undefined): ErrorMeaning | undefined {
  return message !== undefined && OUT_OF_MONEY.test(message) ? 'channel' : undefined
}

/** Codes that name the key itself, under a status that says no more than that the request was refused. */
const KEY_CODE = /^Invalid_?Api_?Key|^Authentication/i

/**
 * True when an upstream refused the key that a request came with, so that the request was not looked at and may be sent
 * again with another key: a 401, a 403 that is not about content (a new key may have the right that the old one lacks), or a
 * 400 whose code names the key. No other status, whatever its words are: behind a 408 or 499 the task may exist, and a 429 or
 * a 5xx is no matter of the key.
 */
export function isKeyRefused(status: number, error: UpstreamError): boolean {
  const hasKeyCode = [error.code, error.type].some((name) => name !== undefined && KEY_CODE.test(name))
  if (status === 400) {
    return hasKeyCode
  }
  const meaning = errorMeaning(error)
  const isAboutChannel = meaning === undefined || meaning === 'channel' || meaning === 'request'
  return (status === 401 || status === 403) && (hasKeyCode || isAboutChannel)
}

/** True when the error says that the task, not the model or the path, is unknown. */
export function isUnknownTask({ code }: UpstreamError): boolean {
  return code !== undefined && UNKNOWN_TASK.test(code)
}

/** What a log may show of a code: names, not sentences that repeat a prompt. */
const PRINTABLE_CODE = /^[\w.-]{1,80}$/

/** Status and code, for logs: `HTTP 429 Throttling.RateQuota`. */
export function errorReason(status: number, { code }: UpstreamError): string {
  return code !== undefined && PRINTABLE_CODE.test(code) ? `HTTP ${status} ${code}` : `HTTP ${status}`
}
