import { Annotations, Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import { describe, expect, it, vi } from 'vitest'
import { createApp, createStack, resourcesOf } from './synthesize-stack.ts'

const stack = createStack()
const template = Template.fromStack(stack)

describe('ReelgateStack', () => {
  it('passes every AwsSolutions rule or gives a reason', () => {
    expect(new AwsSolutionsChecks().validateScope(stack).violations).toEqual([])
  })

  it('gives a reason for every accepted finding', () => {
    const acknowledged = stack.node
      .findAll()
      .flatMap((construct) => construct.node.metadata)
      .filter(({ type }) => type === 'aws:cdk:acknowledged-rules')
      .flatMap(({ data }) => Object.entries<string>(data))
    expect(acknowledged.length).toBeGreaterThan(0)
    for (const [, reason] of acknowledged) {
      expect(reason).toMatch(/\w+ \w+ \w+.*\.$/)
    }
  })

  it('passes the rules that CDK itself checks at synth', () => {
    const app = createApp({ builtinCloudFormationValidation: true })
    createStack({}, app)
    expect(() => app.synth()).not.toThrow()
  })

  it('shows the omissions of the configuration', () => {
    const report = vi.spyOn(console, 'error').mockImplementation(() => {})
    const warned = createStack({ warnings: ['channel p2-proxy has no upstream'] })
    Annotations.fromStack(warned).hasWarning('*', 'channel p2-proxy has no upstream [ack: reelgate:configuration-0]')
    report.mockRestore()
  })

  it('generates the signing keys in the account, and the template contains none', () => {
    expect(resourcesOf(template, 'Custom::CdnKeyGroup')).toHaveLength(1)
    expect(JSON.stringify(template)).not.toContain('-----BEGIN')
  })

  it('deploys secrets empty', () => {
    for (const { properties } of resourcesOf(template, 'AWS::SecretsManager::Secret')) {
      expect(properties.SecretString).toBe('{}')
    }
  })

  it('outputs the addresses of the service and of its data', () => {
    expect(Object.keys(template.toJSON().Outputs).sort()).toEqual([
      'AlarmTopicArn',
      'BaseUrl',
      'BucketName',
      'CdnSigningKeyFunctionName',
      'CdnSigningKeySecretArn',
      'ChannelSecretArn',
      'DeadLetterQueueUrl',
      'ReconcileScheduleName',
      'RollbackOptions',
      'TableName',
      'VideoBaseUrl',
    ])
  })

  it.each([
    ['BucketName', 'AWS::S3::Bucket'],
    ['DeadLetterQueueUrl', 'AWS::SQS::Queue'],
    ['ReconcileScheduleName', 'AWS::Scheduler::Schedule'],
  ])('outputs its own resource as %s', (output, type) => {
    const [made, ...others] = resourcesOf(template, type)
    expect(others).toEqual([])
    expect(template.toJSON().Outputs[output].Value).toEqual({ Ref: made?.id })
  })
})
