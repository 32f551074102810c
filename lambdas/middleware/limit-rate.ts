import type { MiddlewareObj } from '@middy/core'
import { KeyRateExceededError } from '#core/errors.ts'
import type { RateState } from '#core/limits.ts'
import type { Caller } from '#store/callers.ts'
import type { KeyRateLimiter } from '#store/limits/key-rate-limiter.ts'
import { type ApiEvent, type ApiResult, authenticatedCaller } from './api-event.ts'

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
    throw new KeyRateExceededError(verdict.retryAfterSeconds)
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
