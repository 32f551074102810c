import { errorMeaning, type UpstreamError } from '../providers/upstream-error.ts'

/**
 * Whom an answer without success is about: the request, so that the client gets to see it; the moment (`busy`); the
 * gateway's own key or account at this upstream (`refused`); or the upstream itself (`failed`).
 */
export type RefusalVerdict = 'request' | 'busy' | 'refused' | 'failed'

/** Refusals of a key or an account that come under any status (OpenAI's `billing_hard_limit_reached` under 400). */
const ACCOUNT_NAME = /^insufficient_|^Arrearage|Overdue|^billing_|^Invalid_?Api_?Key/i

/**
 * Judges an answer by its status and, where that does not tell, by code and type of its error. Its message counts for a
 * 429 alone: others may repeat words of the request, and no client may put a channel out of order.
 * @param status anything but 2xx; a redirect is not followed, so it is a failure
 */
export function judgeRefusal(status: number, error: UpstreamError): RefusalVerdict {
  if (status < 400 || status >= 500 || status === 408) {
    return 'failed'
  }
  if (status === 429) {
    return errorMeaning(error) === 'channel' ? 'refused' : 'busy'
  }
  if (status === 401 || status === 402 || (status === 403 && errorMeaning(error) !== 'content_policy')) {
    return 'refused'
  }
  return [error.code, error.type].some((name) => name !== undefined && ACCOUNT_NAME.test(name)) ? 'refused' : 'request'
}
