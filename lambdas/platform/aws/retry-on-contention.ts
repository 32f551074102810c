import { ServiceUnavailableError } from '#core/errors.ts'
import { type Clock, systemClock } from '../clock.ts'

/** Tries of one request. The SDK itself does not retry a transaction conflict. */
const TRIES_MAX = 8

/** Full jitter below these bounds, doubling: eight tries cover about two seconds of contention. */
const DELAY_MILLISECONDS = { first: 25, max: 800 }

/**
 * The same after a conflict at an item that many processes write. A transaction takes some ten milliseconds there, so a later try is soon
 * worth its while, and a writer that has lost often must not wait for longer than those that have just begun: it would lose for ever. With
 * ten writers three tries of four are lost, and thirty cover some three seconds; the growth at the end makes room for hundreds of writers.
 */
const CROWDED_MILLISECONDS: readonly number[] = [
  ...[25, 50],
  ...Array<number>(16).fill(100),
  ...Array<number>(6).fill(200),
  ...[400, 400, 400, 400, 800, 800],
]

/**
 * No try begins later than this after the first one, as happens in a process that was suspended. A table forgets the token of a
 * transaction after ten minutes, and Reconcile gives back what a process holds after sixteen.
 */
const TRYING_MILLISECONDS_MAX = 5 * 60 * 1000

type RetryOptions = {
  /** Whether an error is worth another try: the request changed nothing, or is safe to repeat. */
  readonly isRetryable?: (error: unknown) => boolean
  /** Whether an error is a conflict at an item that many processes write. Default: no error is. */
  readonly isCrowded?: (error: unknown) => boolean
  /** How it waits between two tries, and until when; by the system's clock when left out. */
  readonly clock?: Partial<Clock> | undefined
}

/**
 * Repeats a request of an AWS service while it meets contention.
 * @throws ServiceUnavailableError after the last try; otherwise what the request throws.
 */
export async function retryOnContention<Result>(
  request: () => Promise<Result>,
  { isRetryable = isContention, isCrowded = () => false, clock }: RetryOptions = {},
): Promise<Result> {
  const { nowMilliseconds, pause } = { ...systemClock, ...clock }
  const endsAt = nowMilliseconds() + TRYING_MILLISECONDS_MAX
  let lastError: unknown
  let [tries, conflicts] = [0, 0]
  do {
    try {
      return await request()
    } catch (error) {
      if (!isRetryable(error)) {
        throw error
      }
      lastError = error
    }
    let bound = Math.min(DELAY_MILLISECONDS.max, DELAY_MILLISECONDS.first * 2 ** tries)
    if (isCrowded(lastError)) {
      bound = CROWDED_MILLISECONDS[conflicts] ?? DELAY_MILLISECONDS.max
      conflicts += 1
    } else {
      tries += 1
    }
    await pause(Math.random() * bound)
  } while (tries < TRIES_MAX && conflicts < CROWDED_MILLISECONDS.length && nowMilliseconds() <= endsAt)
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
