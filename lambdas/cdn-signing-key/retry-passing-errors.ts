/** A permission that was just given takes seconds to be known everywhere in IAM, now and then the better part of a minute. */
const PATIENCE_MILLISECONDS_MAX = 60_000

/** Pauses before the second try and each later one, up to the longest; the SDK has made its own quick tries by then. */
const FIRST_PAUSE_MILLISECONDS = 1_000
const LONGEST_PAUSE_MILLISECONDS = 8_000

/** Names under which AWS's services say that the caller may not, or that it asks too often. */
const PASSING = /^(AccessDenied|Throttl|TooManyRequests|RequestLimitExceeded|SlowDown)/

/** What tells how long it has been, and lets time pass. In milliseconds. */
type Patience = { readonly now: () => number; readonly pause: (milliseconds: number) => Promise<unknown> }

const REAL: Patience = {
  now: () => performance.now(),
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
}

/**
 * Runs an action again for about a minute while it fails in a way that passes: the function's role is as new as the stack, and
 * CloudFront and Secrets Manager may not know its permissions yet, or throttle. The action must be one that may be repeated.
 * @throws what the action throws in any other way at once, and the last error when the minute is over.
 */
export async function retryPassingErrors<Result>(
  action: () => Promise<Result>,
  { now, pause: passTime }: Patience = REAL,
): Promise<Result> {
  const giveUpAt = now() + PATIENCE_MILLISECONDS_MAX
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MILLISECONDS)) {
    try {
      return await action()
    } catch (error) {
      const isPassing = error instanceof Error && PASSING.test(error.name)
      if (!isPassing || now() + pause > giveUpAt) {
        throw error
      }
      console.warn(JSON.stringify({ level: 'WARN', message: 'tried again', error: error.name }))
      await passTime(pause)
    }
  }
}
