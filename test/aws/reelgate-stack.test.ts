import { describe, expect, it, jest } from '@jest/globals'
import { Annotations, Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import { createApp, createStack, resourcesOf } from './synthesize-stack.ts'

const stack = createStack()
const template = Template.fromStack(stack)

describe('ReelgateStack', () => {
  it('passes every AwsSolutions rule or says why not', () => {
    expect(new AwsSolutionsChecks().validateScope(stack).violations).toEqual([])
  })

  it('gives a reason with every rule that it does not follow', () => {
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

  it('shows what was left out of the configuration', () => {
    const report = jest.spyOn(console, 'error').mockImplementation(() => {})
    const warned = createStack({ warnings: ['channel p2-proxy has no upstream'] })
    Annotations.fromStack(warned).hasWarning('*', 'channel p2-proxy has no upstream [ack: reelgate:configuration-0]')
    report.mockRestore()
  })

  it('makes the signing keys in the account: the template has none, neither half', () => {
    expect(resourcesOf(template, 'Custom::CdnKeyGroup')).toHaveLength(1)
    expect(JSON.stringify(template)).not.toContain('-----BEGIN')
  })

  it('deploys secrets empty', () => {
    for (const { properties } of resourcesOf(template, 'AWS::SecretsManager::Secret')) {
      expect(properties.SecretString).toBe('{}')
    }
  })

  it('tells where the service answers and where its data is', () => {
    expect(Object.keys(template.toJSON().Outputs).sort()).toEqual([
      'AlarmTopicArn',
      'BaseUrl',
      'BucketName',
      'CdnSigningKeyFunctionName',
      'CdnSigningKeySecretArn',
      'ChannelSecretArn',
      'DeadLetterQueueUrl',
      'ReconcileScheduleName',
      'TableName',
      'VideoBaseUrl',
    ])
  })

  it.each([
    ['BucketName', 'AWS::S3::Bucket'],
    ['DeadLetterQueueUrl', 'AWS::SQS::Queue'],
    ['ReconcileScheduleName', 'AWS::Scheduler::Schedule'],
  ])('has in %s what it made', (output, type) => {
    const [made, ...others] = resourcesOf(template, type)
    expect(others).toEqual([])
    expect(template.toJSON().Outputs[output].Value).toEqual({ Ref: made?.id })
  })
})
