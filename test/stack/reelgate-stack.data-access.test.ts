import { describe, expect, it } from '@jest/globals'
import { resourcesOf, stageSettings, synthesizeStack } from './synthesize-stack.ts'

type Statement = {
  Effect: 'Allow' | 'Deny'
  Action?: string | string[]
  Resource?: unknown
  Principal?: unknown
  Condition?: object
}

const template = synthesizeStack()
const allowed = resourcesOf(template, 'AWS::IAM::Policy').flatMap(({ properties }) =>
  properties.PolicyDocument.Statement.filter(({ Effect }: Statement) => Effect === 'Allow'),
)

/** The name of the one resource of a type. */
function only(type: string): string {
  const [found, ...others] = resourcesOf(template, type)
  expect(others).toEqual([])
  return found?.id ?? ''
}

/** An ARN in the template as text: `<Bucket.Arn>/v/*`. */
function text(expression: unknown): string {
  if (typeof expression === 'string') {
    return expression
  }
  const [kind, value] = Object.entries(Object(expression))[0] ?? []
  if (kind === 'Ref') {
    return `<${value}>`
  }
  if (!Array.isArray(value)) {
    return JSON.stringify(expression)
  }
  return kind === 'Fn::GetAtt' ? `<${value.join('.')}>` : value[1].map(text).join(value[0])
}

function asList<Value>(value: Value | Value[] | undefined): Value[] {
  return value === undefined ? [] : ([value].flat() as Value[])
}

/** Where the actions of a service are allowed, as text, without repetitions. */
function placesOf(service: string, matters = (_action: string) => true): string[] {
  const statements: Statement[] = allowed.filter((statement: Statement) =>
    asList(statement.Action).some((action) => action.startsWith(`${service}:`) && matters(action)),
  )
  return [...new Set(statements.flatMap(({ Resource }) => asList(Resource).map(text)))].sort()
}

describe('reelgate-stack: data permissions of roles', () => {
  it('cover this table and its index, three prefixes of this bucket, and these secrets only', () => {
    const table = only('AWS::DynamoDB::GlobalTable')
    const bucket = only('AWS::S3::Bucket')
    expect(placesOf('dynamodb')).toEqual([`<${table}.Arn>`, `<${table}.Arn>/index/GSI1`])
    expect(placesOf('s3')).toEqual(['requests', 'texts', 'v'].map((prefix) => `<${bucket}.Arn>/${prefix}/*`))
    const secrets = resourcesOf(template, 'AWS::SecretsManager::Secret').map(({ id }) => `<${id}>`)
    expect(placesOf('secretsmanager')).toEqual(secrets.sort())
  })

  it('cover this state machine, its executions and this queue, and no distribution', () => {
    const machine = only('AWS::StepFunctions::StateMachine')
    const account = '<AWS::Region>:<AWS::AccountId>'
    expect(placesOf('states')).toEqual([
      `<${machine}>`,
      `arn:<AWS::Partition>:states:${account}:execution:<${machine}.Name>:*`,
    ])
    // CloudFront has no resources for public keys and key groups.
    const keys = /^cloudfront:\w+(PublicKeys?|KeyGroups?)$/
    expect(placesOf('cloudfront', (action) => !keys.test(action))).toEqual([])
    expect(placesOf('sqs')).toEqual([`<${only('AWS::SQS::Queue')}.Arn>`])
  })

  it('name every action in full, without NotAction and encryption keys', () => {
    for (const statement of allowed) {
      expect(Object.keys(statement)).not.toEqual(expect.arrayContaining(['NotAction']))
      expect(Object.keys(statement)).not.toEqual(expect.arrayContaining(['NotResource']))
      for (const action of asList<string>(statement.Action)) {
        expect(action).toMatch(/^[a-z0-9]+:[A-Za-z]+$/)
        expect(action).not.toMatch(/^kms:/)
      }
    }
    expect(resourcesOf(template, 'AWS::KMS::Key')).toEqual([])
  })

  it('use no managed policy, except the role for the logs of API Gateway', () => {
    const managed = resourcesOf(template, 'AWS::IAM::Role').flatMap(
      ({ properties }) => properties.ManagedPolicyArns ?? [],
    )
    expect(managed.map(text)).toEqual([
      'arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
    ])
  })
})

describe('reelgate-stack: access from outside', () => {
  it('is limited to AWS services, for resources of this stack or account', () => {
    const policies = ['AWS::S3::BucketPolicy', 'AWS::SQS::QueuePolicy', 'AWS::SNS::TopicPolicy']
    const statements: Statement[] = policies.flatMap((type) =>
      resourcesOf(template, type).flatMap(({ properties }) => properties.PolicyDocument.Statement),
    )
    const allows = statements.filter(({ Effect }) => Effect === 'Allow')
    expect(allows).toHaveLength(3)
    for (const { Principal, Condition } of allows) {
      expect(Principal).toEqual({ Service: expect.stringMatching(/^(cloudfront|events|cloudwatch)\.amazonaws\.com$/) })
      expect(JSON.stringify(Condition)).toMatch(/aws:Source(Arn|Account)/i)
    }
  })

  it('invokes each function from one resource of this stack, without a function url', () => {
    for (const { properties } of resourcesOf(template, 'AWS::Lambda::Permission')) {
      expect(properties.Principal).toMatch(/^(apigateway|events)\.amazonaws\.com$/)
      expect(properties.SourceArn).toBeDefined()
    }
    expect(resourcesOf(template, 'AWS::Lambda::Url')).toEqual([])
  })

  it('assumes roles only as an AWS service', () => {
    for (const { properties } of resourcesOf(template, 'AWS::IAM::Role')) {
      for (const { Principal } of properties.AssumeRolePolicyDocument.Statement) {
        expect(Principal).toEqual({ Service: expect.stringMatching(/\.amazonaws\.com$/) })
      }
    }
  })

  it('requires TLS for every bucket, queue and topic', () => {
    const holders = [
      ['AWS::S3::Bucket', 'AWS::S3::BucketPolicy'],
      ['AWS::SQS::Queue', 'AWS::SQS::QueuePolicy'],
      ['AWS::SNS::Topic', 'AWS::SNS::TopicPolicy'],
    ] as const
    for (const [type, policyType] of holders) {
      const denials = resourcesOf(template, policyType).filter(({ properties }) =>
        properties.PolicyDocument.Statement.some(
          ({ Effect, Principal, Condition }: Statement) =>
            Effect === 'Deny' &&
            /^("\*"|\{"AWS":"\*"\})$/.test(JSON.stringify(Principal)) &&
            JSON.stringify(Condition) === '{"Bool":{"aws:SecureTransport":"false"}}',
        ),
      )
      for (const { id } of resourcesOf(template, type)) {
        expect(denials.some(({ properties }) => JSON.stringify(properties).includes(`"${id}"`))).toBe(true)
      }
    }
  })
})

describe('reelgate-stack: stored data', () => {
  it('is encrypted at rest with keys of the service, so that no role needs a key', () => {
    for (const { properties } of resourcesOf(template, 'AWS::S3::Bucket')) {
      const [rule] = properties.BucketEncryption.ServerSideEncryptionConfiguration
      expect(rule.ServerSideEncryptionByDefault).toEqual({ SSEAlgorithm: 'AES256' })
    }
    for (const { properties } of resourcesOf(template, 'AWS::SQS::Queue')) {
      expect(properties.SqsManagedSseEnabled).toBe(true)
    }
    // DynamoDB has no unencrypted tables: false is the key that it owns itself.
    for (const { properties } of resourcesOf(template, 'AWS::DynamoDB::GlobalTable')) {
      expect(properties.SSESpecification).toEqual({ SSEEnabled: false })
    }
    // Secrets Manager and CloudWatch Logs encrypt with a key of their own unless one is named.
    for (const type of ['AWS::SecretsManager::Secret', 'AWS::Logs::LogGroup']) {
      for (const { properties = {} } of resourcesOf(template, type)) {
        expect(properties.KmsKeyId).toBeUndefined()
      }
    }
  })

  it('is never public', () => {
    for (const { properties } of resourcesOf(template, 'AWS::S3::Bucket')) {
      expect(Object.values(properties.PublicAccessBlockConfiguration)).toEqual([true, true, true, true])
      expect(properties.AccessControl).toBeUndefined()
      expect(properties.WebsiteConfiguration).toBeUndefined()
    }
  })

  it('is kept after the stack, with tables that can be restored to any second', () => {
    const protectedLater = synthesizeStack({ settings: stageSettings({ deletionProtection: 'true' }) })
    expect(resourcesOf(template, 'AWS::DynamoDB::Table')).toEqual([])
    for (const { properties } of resourcesOf(protectedLater, 'AWS::DynamoDB::GlobalTable')) {
      for (const replica of properties.Replicas) {
        expect(replica.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true })
        expect(replica.DeletionProtectionEnabled).toBe(true)
      }
    }
    for (const type of ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket']) {
      template.allResources(type, { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' })
    }
  })
})
