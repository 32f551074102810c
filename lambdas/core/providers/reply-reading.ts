import type { UpstreamFailureCode } from '../errors.ts'
import { isJsonObject, parseJsonText } from '../json/parse-json-text.ts'

/** Reads single fields of JSON of unknown shape. No function here throws, whatever the input. */

/** Parses a JSON string; undefined when it is not JSON. A byte order mark is skipped, as browsers do. */
export function parseJson(text: string): unknown {
  try {
    return parseJsonText(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch {
    return undefined
  }
}

/** The value at a path of field names and array indexes; undefined where the path leaves the value. */
export function fieldAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value
  for (const step of path) {
    if (typeof step === 'number') {
      current = Array.isArray(current) ? current[step] : undefined
    } else {
      current = isJsonObject(current) && Object.hasOwn(current, step) ? current[step] : undefined
    }
  }
  return current
}

/** A string that is not blank, unchanged; undefined for anything else. */
export function nonBlank(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** The first value that is not undefined. */
export function firstOf<Value>(values: readonly (Value | undefined)[]): Value | undefined {
  return values.find((value) => value !== undefined)
}

/** The whole part and the fraction of any plausible amount. */
const DECIMAL = /^\d{1,15}(?:\.(\d{1,20}))?$/

/** Sums of floating point numbers have tails such as 13.239999999999998, which are rounded to this many digits. */
const FRACTION_DIGITS_MAX = 9

/** A number or a string of digits as a decimal string; undefined for negative, infinite and exponent forms. */
export function decimalText(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null
  const [whole, fraction = ''] = match ?? []
  if (whole === undefined || fraction.length <= FRACTION_DIGITS_MAX) {
    return whole
  }
  return Number(whole)
    .toFixed(FRACTION_DIGITS_MAX)
    .replace(/\.?0+$/, '')
}

/** The first decimal above zero, or else the first one: a zero in one place does not hide a number in another. */
export function firstDecimal(values: readonly unknown[]): string | undefined {
  const texts = values.map(decimalText).filter((text) => text !== undefined)
  return texts.find((text) => Number(text) > 0) ?? texts[0]
}

/** An impossible quantity is cut to this length, which is enough for settlement to recognise and refuse it. */
const ODD_QUANTITY_CHARACTERS_MAX = 32

/**
 * A reported usage, even where it is no decimal (`-5`, `Infinity`, `"many"`), because settlement refuses and reports such a
 * value. Undefined when there is none.
 */
export function reportedQuantity(values: readonly unknown[]): string | undefined {
  return firstDecimal(values) ?? firstOf(values.map(oddQuantity))
}

function oddQuantity(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : nonBlank(value)
  return text?.slice(0, ODD_QUANTITY_CHARACTERS_MAX)
}

/** An id becomes a path segment: printable ASCII, no dot segments. Longer ids do not exist. */
const TASK_ID = /^(?!\.{1,2}$)[\x21-\x7e]{1,256}$/

/** A task id that can be put into a path. A whole number counts, if JSON kept it exact. */
export function taskIdText(value: unknown): string | undefined {
  const text = Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && TASK_ID.test(text) ? text : undefined
}

/** The content of an error body. Every part may be missing. */
export type UpstreamError = {
  readonly code: string | undefined
  readonly type: string | undefined
  readonly message: string | undefined
}

/**
 * The cause that an error code names: the content of the prompt or the result (`content_policy`), the rest of the request
 * (`request`), the account, key or model behind the channel (`channel`), or the present load (`busy`).
 */
export type ErrorMeaning = 'content_policy' | 'channel' | 'busy' | 'request'

/** The longest upstream message that reaches a client. Real ones are far shorter. */
const MESSAGE_CHARACTERS_MAX = 2_000

/** Codes in the envelope of a success. */
const SUCCESS_CODE = /^(success|succeeded|ok|0|20\d)?$/i

/**
 * The code tables of P1, P2 and public proxies; the first match counts. An account's allocation quota is throttling by name
 * only: waiting does not help.
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

/** Proxies report an empty account in words, under any code. */
const OUT_OF_MONEY = /insufficient\s+(account\s+|user\s+)?(balance|quota|credits?|funds)/i

const UNKNOWN_TASK = /task_?not_?(exists?|found)|^ResourceNotFound|^404$/i

/** Reads P1's flat error, P2's error object, and the envelopes of proxies (`error` as a string, `code` with `message`). */
export function readUpstreamError(body: unknown): UpstreamError {
  const error = fieldAt(body, 'error')
  return {
    code: firstOf([fieldAt(error, 'code'), fieldAt(body, 'code')].map(errorCode)),
    type: nonBlank(fieldAt(error, 'type')),
    message: upstreamWords([error, fieldAt(error, 'message'), fieldAt(body, 'message')]),
  }
}

/** The first message among several places, cut to a bound. */
export function upstreamWords(places: readonly unknown[]): string | undefined {
  return firstOf(places.map(nonBlank))?.slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed()
}

/** A string or number that names an error; undefined for the codes of success. */
function errorCode(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && !SUCCESS_CODE.test(text) ? text : undefined
}

/** The cause by code, type and message; undefined when none of them tells. */
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

/** Codes that name the key itself, under a status that only says that the request was refused. */
const KEY_CODE = /^Invalid_?Api_?Key|^Authentication/i

/**
 * Whether an upstream refused the key of a request, so that it did not look at the request, which may be sent again with another
 * key: a 401, a 403 that is not about content (a new key may have the missing right), or a 400 whose code names the key. No
 * other status counts, whatever its message: after a 408 or 499 the task may exist, and a 429 or 5xx is not about the key.
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

/** Codes of an account that has no money or no quota left. */
const ACCOUNT_CODE = /^Arrearage|Overdue|^billing_|^insufficient_|AllocationQuota|^QuotaExceeded|^SetLimitExceeded/i

/** What of the gateway an upstream refuses: its key or what the key may do, its account, or something else, such as its name of a model. */
export function refusalCode(status: number, error: UpstreamError): UpstreamFailureCode {
  const { code, type, message = '' } = error
  const isAccount = [code, type].some((name) => ACCOUNT_CODE.test(name ?? '')) || OUT_OF_MONEY.test(message)
  if (status === 402 || isAccount) {
    return 'upstream_quota'
  }
  return isKeyRefused(status, error) ? 'upstream_auth' : 'upstream_error'
}

/** Whether the error says that the task, not the model or the path, is unknown. */
export function isUnknownTask({ code }: UpstreamError): boolean {
  return code !== undefined && UNKNOWN_TASK.test(code)
}

/** A code that a log may show: a name, and not a sentence that may repeat a prompt. */
const PRINTABLE_CODE = /^[\w.-]{1,80}$/

/** Status and code, for logs: `HTTP 429 Throttling.RateQuota`. Some upstreams repeat the status as their code. */
export function errorReason(status: number, { code = '' }: UpstreamError): string {
  return PRINTABLE_CODE.test(code) && code !== String(status) ? `HTTP ${status} ${code}` : `HTTP ${status}`
}

const PERCENT_MAX = 100

/** A number, or a string with or without a sign (`37`, `"37%"`), cut to a whole one; undefined for anything but 0 to 100. */
export function percentOf(value: unknown): number | undefined {
  const number = decimalText(typeof value === 'string' ? value.trim().replace(/ ?%$/, '') : value)
  const percent = number === undefined ? undefined : Math.trunc(Number(number))
  return percent === undefined || percent > PERCENT_MAX ? undefined : percent
}

/** The fields of begin and end that P1, P2 and the proxies use. `updated_at` is used only if no better field for the end is present. */
const BEGIN = ['submit_time', 'created_at', 'scheduled_time']
const END = ['end_time', 'finish_time', 'completed_at', 'updated_at']

/**
 * Seconds from the begin to the end that a view of a task names; undefined without either. Unchecked: the number may be zero, negative or
 * absurd.
 */
export function secondsBetween(view: unknown): number | undefined {
  const instantOf = (names: readonly string[]) => firstOf(names.map((name) => unixSeconds(fieldAt(view, name))))
  const [begin, end] = [instantOf(BEGIN), instantOf(END)]
  return begin === undefined || end === undefined ? undefined : end - begin
}

/** Unix times above this are milliseconds. */
const MILLISECONDS_FROM = 100_000_000_000

/** P1's times name no zone, which the difference of two times does not need. */
const TIME_OF_DAY = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?)/

function unixSeconds(value: unknown): number | undefined {
  const number = decimalText(value)
  if (number !== undefined) {
    return Number(number) >= MILLISECONDS_FROM ? Number(number) / 1000 : Number(number)
  }
  const match = typeof value === 'string' ? TIME_OF_DAY.exec(value) : null
  const milliseconds = match === null ? Number.NaN : Date.parse(`${match[1]}T${match[2]}Z`)
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000
}
