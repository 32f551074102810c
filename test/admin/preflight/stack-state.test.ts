import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, describe, expect, it } from 'vitest'
import { checkStackState, isFirstDeployment, readStackState } from '../../../lib/cli/preflight/account-checks.ts'

const cloudFormation = mockClient(CloudFormationClient)
beforeEach(() => {
  cloudFormation.reset()
  process.env.AWS_REGION = 'eu-central-1'
})

const failure = (message: string) => Object.assign(new Error(message), { name: 'ValidationError' })

describe('stack-state: readStackState', () => {
  it('is the status and the protection of the stack', async () => {
    const stack = { StackName: 'S', CreationTime: new Date(0), StackStatus: 'CREATE_COMPLETE' as const }
    cloudFormation.on(DescribeStacksCommand).resolves({ Stacks: [{ ...stack, EnableTerminationProtection: true }] })
    expect(await readStackState('S')).toEqual({ status: 'CREATE_COMPLETE', isProtected: true })
  })

  it('has no status where there is no stack, and throws where nobody can know', async () => {
    cloudFormation.on(DescribeStacksCommand).rejects(failure('Stack with id S does not exist'))
    expect(await readStackState('S')).toEqual({ status: undefined, isProtected: false })
    cloudFormation.on(DescribeStacksCommand).rejects(failure('no such parameter'))
    await expect(readStackState('S')).rejects.toThrow('no such parameter')
  })
})

describe('stack-state: checkStackState', () => {
  it.each([
    [undefined, false, 'ok', 'there is no S yet'],
    ['REVIEW_IN_PROGRESS', false, 'ok', 'there is no S yet'],
    ['ROLLBACK_COMPLETE', false, 'ok', 'cdk deletes and recreates it'],
    ['ROLLBACK_COMPLETE', true, 'wrong', 'and protected: cdk cannot delete it'],
    ['CREATE_FAILED', false, 'wrong', 'cdk cannot delete it'],
    ['UPDATE_IN_PROGRESS', false, 'wrong', 'S is UPDATE_IN_PROGRESS'],
    ['UPDATE_ROLLBACK_FAILED', false, 'wrong', 'S is UPDATE_ROLLBACK_FAILED'],
    ['UPDATE_COMPLETE', true, 'ok', 'it would be updated'],
  ])('%s (protected: %j) is %s', (status, isProtected, verdict, sentence) => {
    const findings = checkStackState('S', { status, isProtected })
    expect(findings).toMatchObject([{ check: 'stack', verdict, message: expect.stringContaining(sentence) }])
  })
})

describe('stack-state: isFirstDeployment', () => {
  it.each([
    [undefined, true],
    ['ROLLBACK_COMPLETE', true],
    ['DELETE_FAILED', true],
    ['UPDATE_ROLLBACK_COMPLETE', false],
    ['CREATE_COMPLETE', false],
  ])('of %s is %j', (status, isFirst) => {
    expect(isFirstDeployment({ status, isProtected: false })).toBe(isFirst)
  })
})
