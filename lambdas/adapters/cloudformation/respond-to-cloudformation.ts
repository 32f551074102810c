import type { CloudFormationCustomResourceEvent } from 'aws-lambda'

/** CloudFormation's presigned url responds in well under a second. A hang must leave time for Lambda's retry. */
const RESPONSE_TIMEOUT_MILLISECONDS = 10_000

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
    body: new TextEncoder().encode(JSON.stringify(body)),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MILLISECONDS),
  })
  if (!response.ok) {
    throw new ResponseNotTakenError(`CloudFormation refused the response with status ${response.status}`)
  }
}
