import { ServiceUnavailableError } from '#core/errors.ts'
import { type Clock, systemClock } from '../../clock.ts'

/** Tries of one write; the SDK itself does not retry a transaction conflict. */
const TRIES_MAX = 8

/** Full jitter below these bounds, doubling: eight tries cover about two seconds of contention. */
const DELAY_MILLISECONDS = { first: 25, max: 800 }

/**
 * Repeats a write while `isRetryable` says that it met contention and wrote nothing (or is safe to repeat).
 * @throws ServiceUnavailableError when every try was spent; otherwise what the write throws.
 */
export async function retryConflicts<Result>(
  write: () => Promise<Result>,
  isRetryable: (error: unknown) => boolean,
  pause: Clock['pause'] = systemClock.pause,
): Promise<Result> {
  let lastError: unknown
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    try {
      return await write()
    } catch (error) {
      if (!isRetryable(error)) {
        throw error
      }
      lastError = error
    }
    await pause(Math.random() * Math.min(DELAY_MILLISECONDS.max, DELAY_MILLISECONDS.first * 2 ** attempt))
  }
  throw new ServiceUnavailableError({ cause: lastError })
}

const CONTENTION =
  /^(TransactionConflict|TransactionInProgress|Throttling|ProvisionedThroughputExceeded|RequestLimitExceeded)/

/** Contention, throttling, or a service or network fault that outlasted the SDK's own retries. */
export function isContention(error: unknown): boolean {
  if (!(error instanceof Error) || !('$metadata' in error)) {
    return false
  }
  return CONTENTION.test(error.name) || !('$fault' in error) || error.$fault !== 'client'
}
