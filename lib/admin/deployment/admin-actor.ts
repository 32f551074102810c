import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import type { Actor } from '#adapters/store/audit/audit-entry.ts'
import { localActor } from '#local/local-actor.ts'
import { CommandFailedError } from '../command-line/command-failed-error.ts'
import { explainAwsAccess } from './aws-access.ts'

/**
 * Who runs a command, for the audit log: the ARN of the AWS caller, or for a local host `user@host`.
 * @throws CommandFailedError without access to AWS.
 */
export async function readAdminActor({ local }: { readonly local: boolean }): Promise<Actor> {
  return local || isEngineLocal(process.env) ? localActor() : { name: await callerArn(), role: 'operator' }
}

/** Whether commands without `--local` use an engine in place of AWS, such as DynamoDB Local, which has no callers. */
function isEngineLocal({
  AWS_ENDPOINT_URL,
  AWS_ENDPOINT_URL_DYNAMODB,
  AWS_ENDPOINT_URL_STS,
}: NodeJS.ProcessEnv): boolean {
  return AWS_ENDPOINT_URL_DYNAMODB !== undefined && AWS_ENDPOINT_URL_STS === undefined && AWS_ENDPOINT_URL === undefined
}

async function callerArn(): Promise<string> {
  try {
    const { Arn } = await new STSClient({}).send(new GetCallerIdentityCommand({}))
    if (Arn !== undefined) {
      return Arn
    }
  } catch (error) {
    throw new CommandFailedError(explainAwsAccess(error) ?? `AWS does not say who calls: ${messageOf(error)}`, {
      cause: error,
    })
  }
  throw new CommandFailedError('AWS does not say who calls: the reply of GetCallerIdentity has no ARN')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}
