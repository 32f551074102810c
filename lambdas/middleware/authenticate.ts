import type { MiddlewareObj } from '@middy/core'
import type { AccountView } from '#core/api/balance.ts'
import { bearerKey, isLikeAdminKey, isPlausibleKey } from '#core/api-key.ts'
import { InvalidApiKeyError, KeyRateExceededError } from '#core/errors.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { type RateState, requestRate, spreadWait } from '#core/limits.ts'
import { InvalidTokenError } from '#core/refused-key.ts'
import type { Caller } from '#store/callers.ts'
import type { KeyRateLimiter } from '#store/limits/key-rate-limiter.ts'
import {
  type ApiEvent,
  type ApiResult,
  authenticatedCaller,
  type ReceivedRequest,
  receivedRequest,
} from './api-event.ts'
import { findShown, takesTokens } from './find-shown.ts'

/** What a look-up finds for a key: the caller, and what else was read in the same request to the table. */
export type Found = {
  readonly caller: Caller
  readonly job?: VideoJob | undefined
  readonly account?: AccountView | undefined
}

/** The digest of the key that a request shows, and the request. */
export type ShownKey = { readonly keyDigest: string; readonly nowSeconds: number; readonly event: ApiEvent }

/** Looks up a key, strongly consistent. Undefined for a key that is unknown, revoked, suspended or expired. */
export type KeyLookup = (shown: ShownKey) => Promise<Found | undefined>

/**
 * Puts the caller of `Authorization: Bearer <key>` on the event. Missing, malformed, mistyped, unknown, expired, suspended
 * and revoked keys all throw the same InvalidApiKeyError, the first three without a read. An admin key is told apart by its prefix. A token of
 * an issuer stands for the key of its subject.
 */
export function authenticate(lookUp: KeyLookup): MiddlewareObj<ApiEvent, ApiResult> {
  const before = async ({ event }: { event: ApiEvent }) => {
    const key = presentedKey(receivedRequest(event))
    const nowSeconds = Math.trunc(Date.now() / 1000)
    const found = await findShown(key, (keyDigest) => lookUp({ keyDigest, nowSeconds, event }))
    event.caller = found.caller
    event.job = found.job
    event.account = found.account
  }
  return { before }
}

/** The routes of clients of the Anthropic API, which may send their key as `x-api-key`. */
const TAKES_API_KEY = /^\/v1\/(?:messages|models)(?:\/|$)/

/** Longer than the tokens of the known issuers with many groups. API Gateway takes 10,240 bytes of headers. */
const TOKEN_CHARACTERS_MAX = 8_192

/** The key, or the token, that a request shows. @throws InvalidApiKeyError when it is missing, malformed, mistyped, given twice or too long. */
export function presentedKey({ path, headerLines }: Pick<ReceivedRequest, 'path' | 'headerLines'>): string {
  const lines = headerLines('authorization')
  const isElsewhere = lines.length === 0 && TAKES_API_KEY.test(path)
  const [line, second] = isElsewhere ? headerLines('x-api-key').map((key) => `Bearer ${key}`) : lines
  // Proxies disagree on which of two keys counts, so a request with two has none.
  const key = second === undefined ? bearerKey(line, takesTokens()) : undefined
  if (key === undefined) {
    throw new InvalidApiKeyError(howToSend(path, headerLines('x-api-key').length > 0))
  }
  if (key.length > TOKEN_CHARACTERS_MAX) {
    throw new InvalidTokenError(`it is longer than ${TOKEN_CHARACTERS_MAX} characters`)
  }
  if (!isPlausibleKey(key)) {
    throw new InvalidApiKeyError(isLikeAdminKey(key) ? ADMIN_KEY : undefined)
  }
  return key
}

const ADMIN_KEY =
  'this is an admin key, which `/admin/v1` at the address of the console takes; this route takes an API key (`rg_live_...`)'
const SEND_BEARER = 'send it as `Authorization: Bearer <key>`'

function howToSend(path: string, hasApiKey: boolean): string {
  if (TAKES_API_KEY.test(path)) {
    return `${SEND_BEARER} or \`x-api-key: <key>\``
  }
  return hasApiKey ? `${SEND_BEARER}, not in \`x-api-key\`` : SEND_BEARER
}

/** Counts the requests of a key. */
export type Limiter = Pick<KeyRateLimiter, 'take'>

/**
 * Counts a request against the limit of its key.
 * @param note receives what the key has left, whether the request passes or not; undefined for a key without a limit.
 * @throws KeyRateExceededError when the key has sent too many.
 * @throws ServiceUnavailableError when the table stays out of reach.
 */
export async function countRequest(
  limiter: Limiter,
  caller: Caller,
  note: (left: RateState | undefined) => void,
): Promise<void> {
  const verdict = await limiter.take(caller)
  note(verdict?.state)
  if (verdict?.retryAfterSeconds !== undefined) {
    const wait = spreadWait(verdict.retryAfterSeconds, Math.random())
    throw new KeyRateExceededError(wait, requestRate(verdict.state.limit))
  }
}

/** Counts each request after authentication, before anything else of the request is read. */
export function limitRate(limiter: () => Limiter): MiddlewareObj<ApiEvent, ApiResult> {
  const before = async ({ event }: { event: ApiEvent }) => {
    await countRequest(limiter(), authenticatedCaller(event), (left) => {
      event.rate = left
    })
  }
  return { before }
}
