import type { CloudFormationCustomResourceEvent } from 'aws-lambda'

/** CloudFormation's presigned url answers in well under a second; a hang must leave time for Lambda's own retry. */
const RESPONSE_TIMEOUT_MILLISECONDS = 10_000

/** CloudFormation's answer url did not take the answer; Lambda then runs the event again. */
class ResponseNotTakenError extends Error {
  override readonly name = 'ResponseNotTakenError'
}

/** How a custom resource's event ended; the data are its attributes. */
export type Outcome =
  | { readonly Status: 'SUCCESS'; readonly Data: Readonly<Record<string, string>> }
  | { readonly Status: 'FAILED'; readonly Reason: string }

/** Tells CloudFormation. @throws ResponseNotTakenError */
export async function answerCloudFormation(
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
  // Bytes, not a string: a string would add a content-type, which the presigned url's signature leaves out.
  const response = await fetch(event.ResponseURL, {
    method: 'PUT',
    body: new TextEncoder().encode(JSON.stringify(body)),
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MILLISECONDS),
  })
  if (!response.ok) {
    throw new ResponseNotTakenError(`the answer was refused with status ${response.status}`)
  }
}
