import type { IncomingHttpHeaders } from 'node:http'
import { isRequestId } from '#core/ids.ts'
import { type HttpResponse, retryAfterSeconds } from '#platform/http/send-once.ts'
import {
  errorMeaning,
  errorReason,
  isKeyRefused,
  memberAt,
  parseJson,
  readUpstreamError,
  type UpstreamError,
} from '#upstream/providers/reply-reading.ts'

/** Why a channel did not take a request. */
export type ChannelFailure = {
  /**
   * `busy`: the upstream asks to try later. `refused`: the upstream refuses the gateway's key or account. `failed`: the
   * upstream fails or is out of reach. `timeout`: the upstream has the request and did not begin to reply in time, so it
   * may still be working on it.
   */
  readonly kind: 'busy' | 'refused' | 'failed' | 'timeout'
  /** For the log: a code or a fixed phrase of the gateway. */
  readonly reason: string
  readonly upstreamRequestId?: string | undefined
  /** True for a refusal that another key may resolve. */
  readonly isKeyRefused?: boolean | undefined
  /** The wait that a busy upstream asks for. */
  readonly retryAfterSeconds?: number | undefined
}

/** How long to wait for the body of an error, whose code decides about the next channel. It nearly always comes with the head. */
const ERROR_BODY_MILLISECONDS = 1_000

/** Successes that have no content by definition: an upstream that sends one did not do the work. */
const WITHOUT_CONTENT: ReadonlySet<number> = new Set([204, 205])

/**
 * Decides whether a reply is relayed: every 2xx with content is, and so is a 4xx about the request, whose body stays unread.
 * The body of any other reply is destroyed.
 * @returns undefined for a reply to relay.
 */
export async function judgeReply(
  { status, headers, body }: HttpResponse,
  nowUnixMilliseconds: number,
): Promise<ChannelFailure | undefined> {
  const upstreamRequestId = upstreamRequestIdOf(headers)
  if (isCompressed(headers)) {
    // The request asked for identity, and the usage is read from plain bytes.
    body.destroy()
    return { kind: 'failed', reason: 'compressed answer', upstreamRequestId }
  }
  if (WITHOUT_CONTENT.has(status)) {
    body.destroy()
    return { kind: 'failed', reason: `HTTP ${status}`, upstreamRequestId }
  }
  if (status >= 200 && status < 300) {
    return undefined
  }
  const json = parseJson((await body.peek(ERROR_BODY_MILLISECONDS)).toString('utf8'))
  const error = readUpstreamError(json)
  const hasError = (memberAt(json, 'error') ?? error.code ?? null) !== null
  const verdict = judgeRefusal({ status, error, hasError })
  if (verdict === 'request') {
    return undefined
  }
  body.destroy()
  const seconds = verdict === 'busy' ? retryAfterSeconds(headers['retry-after'], nowUnixMilliseconds) : undefined
  return {
    kind: verdict,
    reason: errorReason(status, error),
    upstreamRequestId,
    isKeyRefused: verdict === 'refused' && isKeyRefused(status, error),
    retryAfterSeconds: seconds,
  }
}

/** The upstream's own id of a request (`x-request-id`); undefined for a value that is no plain id, which stays out of the logs. */
export function upstreamRequestIdOf(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['x-request-id']
  return isRequestId(id) ? id : undefined
}

function isCompressed(headers: IncomingHttpHeaders): boolean {
  const coding = headers['content-encoding']
  return coding !== undefined && !/^\s*(identity)?\s*$/i.test(coding)
}

/**
 * What a reply without success is about: the client's request, which the client then sees; the moment (`busy`); the
 * gateway's own key or account (`refused`); or the upstream itself (`failed`).
 */
type RefusalVerdict = 'request' | 'busy' | 'refused' | 'failed'

/** Refusals of a key or an account, which come under any status (OpenAI's `billing_hard_limit_reached` under 400). */
const ACCOUNT_NAME = /^insufficient_|^Arrearage|Overdue|^billing_|^Invalid_?Api_?Key/i

/** These statuses are about the request, whatever the body says. */
const ABOUT_REQUEST: ReadonlySet<number> = new Set([400, 409, 413, 415, 422])

/**
 * These statuses may be about the request (a model that is unknown or gone) or about the path: with a wrong base url,
 * the server that responds may not be the upstream's API at all.
 */
const ABOUT_REQUEST_OR_PATH: ReadonlySet<number> = new Set([404, 405, 410])

/** These statuses are about the content of the request where the error says so. */
const ABOUT_CONTENT: ReadonlySet<number> = new Set([403, 451])

type Refusal = {
  /** Anything but a 2xx. A redirect is not followed, so it is a failure. */
  readonly status: number
  readonly error: UpstreamError
  /** Whether the body is an error of the upstream's API: JSON with an `error` or a code. */
  readonly hasError: boolean
}

/**
 * Judges a reply without success by its status and, where the status does not tell, by the code and type of its error. The
 * message counts for a 429 alone: other messages may repeat words of the request, and no client may put a channel out of
 * order. Any other 4xx (407, 411, 417, 421, 426, 431) is about how the gateway sent the request.
 */
export function judgeRefusal({ status, error, hasError }: Refusal): RefusalVerdict {
  if (status < 400 || status >= 500 || status === 408) {
    return 'failed'
  }
  if (status === 429) {
    return errorMeaning(error) === 'channel' ? 'refused' : 'busy'
  }
  if (ABOUT_CONTENT.has(status) && errorMeaning(error) === 'content_policy') {
    return 'request'
  }
  const namesAccount = [error.code, error.type].some((name) => name !== undefined && ACCOUNT_NAME.test(name))
  if (status === 401 || status === 402 || status === 403 || namesAccount) {
    return 'refused'
  }
  return ABOUT_REQUEST.has(status) || (ABOUT_REQUEST_OR_PATH.has(status) && hasError) ? 'request' : 'failed'
}
