import type { CloudFormationCustomResourceEvent } from 'aws-lambda'

/** CloudFormation's presigned url responds in well under a second. A hang must leave time for Lambda's retry. */
export const RESPONSE_TIMEOUT_MILLISECONDS = 10_000

/** CloudFormation's presigned url refused the response. Lambda then retries the event. */
class ResponseNotTakenError extends Error {
  override readonly name = 'ResponseNotTakenError'
}

/** The outcome of an event of a custom resource; `Data` holds its attributes. */
export type Outcome =
  | { readonly Status: 'SUCCESS'; readonly Data: Readonly<Record<string, string>> }
  | { readonly Status: 'FAILED'; readonly Reason: string }

/** Sends the outcome of an event to CloudFormation. @throws ResponseNotTakenError */
export async function respondToCloudFormation(
  event: CloudFormationCustomResourceEvent,
  { outcome, physicalResourceId }: { outcome: Outcome; physicalResourceId: string },
): Promise<void> {
  const body = {
    ...outcome,
    PhysicalResourceId: physicalResourceId,
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: event.LogicalResourceId,
  }
  // A string would add a content type, which the signature of the url does not cover.
  const response = await fetch(event.ResponseURL, {
    method: 'PUT',
    // A pooled connection has often ended before the next event, and the process slept meanwhile.
    headers: { connection: 'close' },
    body: new TextEncoder().encode(JSON.stringify(body)),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MILLISECONDS),
  })
  if (!response.ok) {
    throw new ResponseNotTakenError(`CloudFormation refused the response with status ${response.status}`)
  }
}

/** A new permission takes seconds, sometimes most of a minute, to spread in IAM. */
export const PATIENCE_MILLISECONDS_MAX = 60_000

/** Pauses double from the first to the longest. The SDK's own quick retries come before them. */
const FIRST_PAUSE_MILLISECONDS = 1_000
const LONGEST_PAUSE_MILLISECONDS = 8_000

/** Names of the errors of AWS for missing permissions and throttling. */
const TRANSIENT = /^(AccessDenied|Throttl|TooManyRequests|RequestLimitExceeded|SlowDown)/

/** Clock and pause; tests replace them. In milliseconds. */
type Patience = { readonly now: () => number; readonly pause: (milliseconds: number) => Promise<unknown> }

const REAL: Patience = {
  now: () => performance.now(),
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
}

/**
 * Retries an action for about a minute after errors of missing permissions and throttling, because the role of the function is
 * as new as the stack. The action must be safe to repeat.
 * @throws any other error of the action at once, and the last error after the minute.
 */
export async function retryTransientErrors<Result>(
  action: () => Promise<Result>,
  { now, pause: passTime }: Patience = REAL,
): Promise<Result> {
  const giveUpAt = now() + PATIENCE_MILLISECONDS_MAX
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MILLISECONDS)) {
    try {
      return await action()
    } catch (error) {
      const isTransient = error instanceof Error && TRANSIENT.test(error.name)
      if (!isTransient || now() + pause > giveUpAt) {
        throw error
      }
      console.warn(JSON.stringify({ level: 'WARN', message: 'tried again', error: error.name }))
      await passTime(pause)
    }
  }
}
