import { errorMeaning, type UpstreamError } from '#adapters/providers/video/upstream-error.ts'

/**
 * Whom an answer without success is about: the request, so that the client gets to see it; the moment (`busy`); the
 * gateway's own key or account at this upstream (`refused`); or the upstream itself (`failed`).
 */
export type RefusalVerdict = 'request' | 'busy' | 'refused' | 'failed'

/** Refusals of a key or an account that come under any status (OpenAI's `billing_hard_limit_reached` under 400). */
const ACCOUNT_NAME = /^insufficient_|^Arrearage|Overdue|^billing_|^Invalid_?Api_?Key/i

/** What these statuses say is said about the request, whatever stands in the body. */
const ABOUT_REQUEST: ReadonlySet<number> = new Set([400, 409, 413, 415, 422])

/**
 * These may be about the request (a model that is unknown or gone) or about the path, such as one below a wrong base url,
 * which whatever server is there answers with words of its own.
 */
const ABOUT_REQUEST_OR_PATH: ReadonlySet<number> = new Set([404, 405, 410])

/** Refusals by content, where an error says so. */
const ABOUT_CONTENT: ReadonlySet<number> = new Set([403, 451])

/** An answer without success. */
type Refusal = {
  /** Anything but 2xx; a redirect is not followed, so it is a failure. */
  readonly status: number
  readonly error: UpstreamError
  /** Whether the body is an error of this wire: JSON with an `error` or a code. */
  readonly hasError: boolean
}

/**
 * Judges an answer by its status and, where that does not tell, by code and type of its error. Its message counts for a
 * 429 alone: others may repeat words of the request, and no client may put a channel out of order. Any other 4xx (407,
 * 411, 417, 421, 426, 431) is about how it was sent, which is not the client's doing.
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
