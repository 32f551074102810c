import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { type Finding, fine, wrong } from '../health/finding.ts'

/** The state of a stage's stack in CloudFormation. */
export type StackState = { readonly status: string | undefined; readonly isProtected: boolean }

const PAGE = 'docs/deploy.md, "The first deployment failed"'

/** Reads the stack of a stage; `status` is undefined if there is none. */
export async function readStackState(name: string): Promise<StackState> {
  try {
    const { Stacks } = await new CloudFormationClient({}).send(new DescribeStacksCommand({ StackName: name }))
    const { StackStatus, EnableTerminationProtection = false } = Stacks?.[0] ?? {}
    return { status: StackStatus, isProtected: EnableTerminationProtection }
  } catch (error) {
    if (isNoStack(error)) {
      return { status: undefined, isProtected: false }
    }
    throw error
  }
}

/** CloudFormation has no specific error for a missing stack. */
export function isNoStack(error: unknown): boolean {
  return error instanceof Error && error.name === 'ValidationError' && error.message.includes('does not exist')
}

/** Whether a deployment creates the stack, instead of updating it. */
export function isFirstDeployment({ status }: StackState): boolean {
  return status === undefined || status === 'REVIEW_IN_PROGRESS' || isFailedCreation(status)
}

function isFailedCreation(status: string): boolean {
  return ['ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'CREATE_FAILED', 'DELETE_FAILED'].includes(status)
}

/** Whether a deployment can start from this state. */
export function checkStackState(name: string, { status, isProtected }: StackState): Finding[] {
  if (status === undefined || status === 'REVIEW_IN_PROGRESS') {
    return [fine('stack', `there is no ${name} yet: this would be its first deployment`)]
  }
  if (isFailedCreation(status)) {
    return isProtected || status !== 'ROLLBACK_COMPLETE'
      ? [
          wrong(
            'stack',
            `${name} is ${status}${isProtected ? ' and protected' : ''}: cdk cannot delete it`,
            `See ${PAGE}.`,
          ),
        ]
      : [fine('stack', `${name} is ${status}: its creation failed; cdk deletes and recreates it`)]
  }
  if (status.endsWith('_IN_PROGRESS')) {
    return [wrong('stack', `${name} is ${status}`, 'Wait until this has ended, and check again.')]
  }
  return status === 'UPDATE_ROLLBACK_FAILED'
    ? [wrong('stack', `${name} is ${status}`, `Run \`npx cdk rollback ${name}\`, then check again.`)]
    : [fine('stack', `${name} is ${status}: it would be updated`)]
}
