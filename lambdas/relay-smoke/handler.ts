import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import * as z from 'zod/mini'
import { type Outcome, respondToCloudFormation } from '#adapters/cloudformation/respond-to-cloudformation.ts'
import { retryPassingErrors } from '#adapters/cloudformation/retry-passing-errors.ts'
import { environmentVariable } from '#adapters/environment.ts'
import { frontDoorValues } from '#adapters/secrets/front-door-secret.ts'
import { SmokeFailedError, smokeRelay } from './smoke-relay.ts'

const propertiesSchema = z.object({ Origin: z.url(), Release: z.string().check(z.minLength(1)) })

/** Where the reason is found: a process that does not start says why in its log, and nowhere else. */
const LOOK_AT = 'see platform.initReport in the log of the Web Function'

/**
 * Proves a new release of the relay server before requests of clients reach it: a custom resource of CloudFormation. A failure fails the
 * deployment, and CloudFormation goes back to the release before. The end of the resource needs nothing.
 * @throws ResponseNotTakenError if CloudFormation did not accept the response, so that Lambda retries the event.
 */
export async function handler(event: CloudFormationCustomResourceEvent): Promise<void> {
  const physicalResourceId = 'PhysicalResourceId' in event ? event.PhysicalResourceId : event.LogicalResourceId
  await respondToCloudFormation(event, { outcome: await run(event), physicalResourceId })
}

async function run({ RequestType, ResourceProperties }: CloudFormationCustomResourceEvent): Promise<Outcome> {
  if (RequestType === 'Delete') {
    return { Status: 'SUCCESS', Data: {} }
  }
  try {
    const { Origin: origin, Release: release } = propertiesSchema.parse(ResourceProperties)
    const [secret = ''] = await retryPassingErrors(() => frontDoorValues(environmentVariable('FRONT_DOOR_SECRET_ARN')))
    await smokeRelay({ origin, release, secret })
    return { Status: 'SUCCESS', Data: {} }
  } catch (error) {
    const Reason = describe(error)
    console.error(JSON.stringify({ level: 'ERROR', message: 'the new release of the relay failed', error: Reason }))
    return { Status: 'FAILED', Reason }
  }
}

/** Messages of other errors may quote a response, so they give their name alone. */
function describe(error: unknown): string {
  if (error instanceof SmokeFailedError) {
    return `the new release of the relay failed at ${error.message}; ${LOOK_AT}`
  }
  return error instanceof Error ? error.name : 'unknown error'
}
