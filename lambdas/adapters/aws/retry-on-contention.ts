import { ServiceUnavailableError } from '#core/errors.ts'
import { type Clock, systemClock } from '../clock.ts'

/** Tries of one request. The SDK itself does not retry a transaction conflict. */
const TRIES_MAX = 8

/** Full jitter below these bounds, doubling: eight tries cover about two seconds of contention. */
const DELAY_MILLISECONDS = { first: 25, max: 800 }

/**
 * No try begins later than this after the first one, as happens in a process that was suspended. A table forgets the token of a
 * transaction after ten minutes, and Reconcile gives back what a process holds after sixteen.
 */
const TRYING_MILLISECONDS_MAX = 5 * 60 * 1000

type RetryOptions = {
  /** Whether an error is worth another try: the request changed nothing, or is safe to repeat. */
  readonly isRetryable?: (error: unknown) => boolean
  /** How it waits between two tries, and until when; by the system's clock when left out. */
  readonly clock?: Partial<Clock> | undefined
}

/**
 * Repeats a request of an AWS service while it meets contention.
 * @throws ServiceUnavailableError after the last try; otherwise what the request throws.
 */
export async function retryOnContention<Result>(
  request: () => Promise<Result>,
  { isRetryable = isContention, clock }: RetryOptions = {},
): Promise<Result> {
  const { nowMilliseconds, pause } = { ...systemClock, ...clock }
  const endsAt = nowMilliseconds() + TRYING_MILLISECONDS_MAX
  let lastError: unknown
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    try {
      return await request()
    } catch (error) {
      if (!isRetryable(error)) {
        throw error
      }
      lastError = error
    }
    await pause(Math.random() * Math.min(DELAY_MILLISECONDS.max, DELAY_MILLISECONDS.first * 2 ** attempt))
    if (nowMilliseconds() > endsAt) {
      break
    }
  }
  throw new ServiceUnavailableError({ cause: lastError })
}

const CONTENTION =
  /^(TransactionConflict|TransactionInProgress|Throttling|ProvisionedThroughputExceeded|RequestLimitExceeded)/

/** Whether an error is a conflict, throttling, or a fault of the service or the network. Errors of the SDK and our own client alike. */
export function isContention(error: unknown): boolean {
  if (!(error instanceof Error) || !('$metadata' in error)) {
    return false
  }
  return CONTENTION.test(error.name) || !('$fault' in error) || error.$fault !== 'client'
}
