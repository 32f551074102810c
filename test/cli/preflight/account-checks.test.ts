import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import {
  checkStackState,
  checkWebFunctions,
  isFirstDeployment,
  readStackState,
} from '../../../lib/cli/preflight/account-checks.ts'

describe('stack state', () => {
  const cloudFormation = mockClient(CloudFormationClient)
  beforeEach(() => {
    cloudFormation.reset()
    process.env.AWS_REGION = 'eu-central-1'
  })

  const failure = (message: string) => Object.assign(new Error(message), { name: 'ValidationError' })

  describe('readStackState', () => {
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

  describe('checkStackState', () => {
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

  describe('isFirstDeployment', () => {
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
})

describe('the check of Web Functions', () => {
  const fetched = jest.fn<typeof fetch>()

  beforeEach(() => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' })
    fetched.mockReset()
    globalThis.fetch = fetched
  })

  const quotas = (maxTotalArmVCpus: number) =>
    Response.json({ accountQuotas: { maxTotalArmVCpus, maxTotalRateLimit: 100_000 }, accountUsage: {} })

  it('asks the region with a signed request, and says what it allows', async () => {
    fetched.mockResolvedValue(quotas(2000))
    expect(await checkWebFunctions('eu-west-1')).toMatchObject([
      { verdict: 'ok', message: 'eu-west-1 allows 1000 environments of Web Functions and 100000 requests a second' },
    ])
    const [url, init] = fetched.mock.calls[0] ?? []
    expect(url).toBe('https://lambda.eu-west-1.amazonaws.com/2025-03-07/web-account-settings')
    const { authorization } = (init?.headers ?? {}) as { authorization?: string }
    expect(authorization).toMatch(
      /Credential=key\/\d{8}\/eu-west-1\/lambda\/aws4_request, SignedHeaders=host;x-amz-date/,
    )
  })

  it('finds a quota that leaves no room for a release', async () => {
    fetched.mockResolvedValue(quotas(4))
    expect(await checkWebFunctions('eu-west-1')).toMatchObject([{ verdict: 'wrong' }])
  })

  it.each([
    ['has no such API', async () => new Response('UnknownOperationException', { status: 404 })],
    ['cannot be reached', () => Promise.reject(new Error('getaddrinfo ENOTFOUND'))],
  ])('says so when the region %s', async (_how, answer) => {
    fetched.mockImplementation(answer)
    expect(await checkWebFunctions('eu-west-1')).toMatchObject([{ verdict: 'wrong' }])
  })
})
