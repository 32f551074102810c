import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import { CONFIGURATION_METADATA } from '../../lib/config/load-gateway-config.ts'
import { API_CERTIFICATE, CDN_CERTIFICATE, EVERY_SETTING, PUBLIC_KEY_PEMS } from './every-setting.ts'
import { createStack, folderOf, resourcesOf, shippedConfiguration, stageSettings } from './synthesize-stack.ts'

const stacks = {
  dev: createStack({ settings: stageSettings({ stage: 'dev', profile: 'dev' }) }),
  prod: createStack({ settings: stageSettings({ stage: 'prod', profile: 'prod' }) }),
  everything: createStack({ settings: stageSettings(EVERY_SETTING) }),
  emulator: createStack({ settings: stageSettings({ profile: 'dev', emulator: 'true' }) }),
}
// test/stack/reelgate-stack.test.ts checks production as it is by default.
const violations = (['dev', 'everything', 'emulator'] as const).map(
  (name) => [name, new AwsSolutionsChecks().validateScope(stacks[name]).violations] as const,
)
const dev = Template.fromStack(stacks.dev)
const prod = Template.fromStack(stacks.prod)
const everything = Template.fromStack(stacks.everything)
const TEMPLATES = Object.entries({ dev, prod, everything })
const inNewAccount = Template.fromStack(createStack({ settings: stageSettings({ pipelineReservedConcurrency: '0' }) }))

const DEPLOY_PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'deploy.md'), 'utf8')

/** Holds records, videos, keys of upstreams and what was logged. */
const KEEPS = [
  'AWS::DynamoDB::GlobalTable',
  'AWS::S3::Bucket',
  'AWS::Logs::LogGroup',
  'AWS::SecretsManager::Secret',
] as const

type Deployed = {
  readonly Type: string
  readonly DeletionPolicy?: string
  readonly Properties?: { Description?: string }
  readonly Metadata?: object
}

function resources(template: Template): Deployed[] {
  return Object.values<Deployed>(template.toJSON().Resources)
}

function functionsOf(template: Template) {
  return resourcesOf(template, 'AWS::Lambda::Function').map((each) => ({ ...each, folder: folderOf(each.properties) }))
}

/** Reserved instances by folder. */
function reservedOf(template: Template) {
  return Object.fromEntries(
    functionsOf(template).flatMap(({ folder, properties: { ReservedConcurrentExecutions: reserved } }) =>
      reserved === undefined ? [] : [[folder, reserved]],
    ),
  )
}

function outputOf(template: Template, name: string): unknown {
  return template.toJSON().Outputs[name]?.Value
}

describe('every stage', () => {
  it.each(violations)('%s passes every AwsSolutions rule or says why not', (_name, found) => {
    expect(found).toEqual([])
  })

  it.each(Object.keys({ ...dev.toJSON().Outputs, ...everything.toJSON().Outputs }))(
    'has the output %s, of which docs/deploy.md says the use',
    (name) => {
      const rows = DEPLOY_PAGE.split('\n').filter((line) => line.startsWith('| `'))
      expect(rows.filter((row) => row.split(' | ')[0]?.includes(`\`${name}\``))).toHaveLength(1)
    },
  )

  it.each([
    ['prod', prod, ['ApiErrors', 'SlowReads', 'StepErrors', 'ReconcileErrors']],
    ['everything', everything, ['ApiErrors', 'SlowReads', 'StepErrors', 'ReconcileErrors', 'RelayServerErrors']],
  ])(
    '%s gives cdk deploy an option for each alarm that rolls back, and CloudFormation five at most',
    (_name, template, expected) => {
      const arns = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(({ id, properties }) => ({
        id,
        name: String(properties.AlarmName).replace('Reelgate-test-', ''),
      }))
      const options = expected.map((name) => {
        const alarm = arns.find((each) => each.name === name)
        return [`--rollback-trigger-alarm-arns `, { 'Fn::GetAtt': [alarm?.id, 'Arn'] }]
      })
      const joined = options.flatMap(([option, arn], index) => [`${index === 0 ? '' : ' '}${option}`, arn])
      expect(outputOf(template, 'RollbackOptions')).toEqual({ 'Fn::Join': ['', joined] })
      expect(expected.length).toBeLessThanOrEqual(5)
    },
  )

  it('has its configuration in the template, for comparison with later deployments', () => {
    expect(JSON.parse(dev.toJSON().Metadata[CONFIGURATION_METADATA])).toEqual(shippedConfiguration.config)
    expect(JSON.stringify(prod.toJSON().Metadata)).toContain('P1_API_KEY')
  })

  it.each(TEMPLATES)(
    '%s has neither decimals nor null in metadata, which cfn-lint refuses (E4002)',
    (_name, template) => {
      const { Metadata, Resources } = template.toJSON()
      const refused: unknown[] = []
      const look = (_key: string, value: unknown) => {
        if (value === null || (typeof value === 'number' && !Number.isInteger(value))) {
          refused.push(value)
        }
        return value
      }
      JSON.stringify([Metadata, ...Object.values<Deployed>(Resources).map((each) => each.Metadata)], look)
      expect(refused).toEqual([])
    },
  )
})

/** Where the name is of what an account has once, for all regions. */
const ACCOUNT_WIDE = {
  'AWS::CloudFront::CachePolicy': 'CachePolicyConfig.Name',
  'AWS::CloudFront::Function': 'Name',
  'AWS::CloudFront::KeyGroup': 'KeyGroupConfig.Name',
  'AWS::CloudFront::OriginAccessControl': 'OriginAccessControlConfig.Name',
  'AWS::CloudFront::PublicKey': 'PublicKeyConfig.Name',
  'AWS::CloudFront::ResponseHeadersPolicy': 'ResponseHeadersPolicyConfig.Name',
  'AWS::CloudWatch::Dashboard': 'DashboardName',
} as const

describe('one stage in two regions of an account', () => {
  it('has no duplicate name', () => {
    const found = Object.entries(ACCOUNT_WIDE).map(([type, path]) => {
      const names = resourcesOf(everything, type).map(({ properties }) =>
        path.split('.').reduce((value, member) => Object(value)[member], properties as unknown),
      )
      return { type, names: names.map((name) => JSON.stringify(name)) }
    })
    for (const { type, names } of found) {
      expect({ type, isThere: names.length > 0 }).toEqual({ type, isThere: true })
      expect(names).toEqual(names.map(() => expect.stringContaining('{"Ref":"AWS::Region"}')))
    }
    expect(
      resources(everything)
        .map(({ Type }) => Type)
        .filter((type) => type.startsWith('AWS::CloudFront::') && type !== 'AWS::CloudFront::Distribution')
        .filter((type) => !Object.keys(ACCOUNT_WIDE).includes(type)),
    ).toEqual([])
  })
})

describe('the stage dev', () => {
  it('is deleted completely, except API Gateway’s role, which all APIs of the region share', () => {
    const kept = resources(dev).filter(
      ({ DeletionPolicy }) => DeletionPolicy !== undefined && DeletionPolicy !== 'Delete',
    )
    expect(kept.map(({ Type }) => Type).sort()).toEqual(['AWS::ApiGateway::Account', 'AWS::IAM::Role'])
    for (const type of KEEPS) {
      dev.allResources(type, { DeletionPolicy: 'Delete' })
    }
    expect(stacks.dev.terminationProtection).toBe(false)
  })

  it('allows the deletion of its table, and empties its bucket first', () => {
    const [table] = resourcesOf(dev, 'AWS::DynamoDB::GlobalTable')
    expect(table?.properties.Replicas[0].DeletionProtectionEnabled).toBe(false)
    const [bucket] = resourcesOf(dev, 'AWS::S3::Bucket')
    dev.hasResourceProperties('Custom::S3AutoDeleteObjects', { BucketName: { Ref: bucket?.id } })
  })

  it('gives the function that empties the bucket an expiring log group and no other log permission', () => {
    const emptier = resourcesOf(dev, 'AWS::Lambda::Function').find(({ properties }) =>
      properties.Description.includes('empties the bucket'),
    )
    const group = emptier?.properties.LoggingConfig.LogGroup.Ref
    const [role] = resourcesOf(dev, 'AWS::IAM::Role').filter(
      ({ id }) => id === emptier?.properties.Role['Fn::GetAtt'][0],
    )
    expect(role?.properties.ManagedPolicyArns).toBeUndefined()
    expect(role?.properties.Policies).toHaveLength(1)
    expect(role?.properties.Policies[0].PolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: { 'Fn::GetAtt': [group, 'Arn'] },
      },
    ])
  })

  it('has no alarms, no web ACL, short logs and a low throttle', () => {
    for (const type of ['AWS::CloudWatch::Alarm', 'AWS::SNS::Topic', 'AWS::WAFv2::WebACL']) {
      expect(resourcesOf(dev, type)).toEqual([])
    }
    dev.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 7 })
    dev.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [Match.objectLike({ ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 })],
    })
  })
})

describe('the stage prod', () => {
  it('keeps table, bucket, channel secret and logs, except after a failed creation', () => {
    for (const type of ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket', 'AWS::Logs::LogGroup']) {
      prod.allResources(type, { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' })
    }
    prod.hasResource('AWS::SecretsManager::Secret', {
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: { Description: 'Reelgate: keys of the upstream channels' },
    })
    expect(resourcesOf(prod, 'Custom::S3AutoDeleteObjects')).toEqual([])
  })

  it('can repeat a failed first deployment, because CloudFormation can delete everything', () => {
    expect(stacks.prod.terminationProtection).toBe(false)
    const [table] = resourcesOf(prod, 'AWS::DynamoDB::GlobalTable')
    expect(table?.properties.Replicas[0].DeletionProtectionEnabled).toBe(false)
    const kept = resources(prod).filter(({ DeletionPolicy }) => DeletionPolicy === 'Retain')
    expect(kept.map(({ Type }) => Type).sort()).toEqual(['AWS::ApiGateway::Account', 'AWS::IAM::Role'])
  })

  it('is protected against deletion, with its table, from the deployment that enables it', () => {
    expect(stacks.everything.terminationProtection).toBe(true)
    const [table] = resourcesOf(everything, 'AWS::DynamoDB::GlobalTable')
    expect(table?.properties.Replicas[0].DeletionProtectionEnabled).toBe(true)
  })

  it('can be created again beside the kept logs of its predecessor', () => {
    const names = resourcesOf(prod, 'AWS::Logs::LogGroup').flatMap(({ properties }) => properties.LogGroupName ?? [])
    expect(names).toHaveLength(2)
    for (const name of names) {
      expect(JSON.stringify(name)).toMatch(/AWS::StackId|RestApi/)
    }
  })

  it.each([
    ['dev', dev],
    ['prod with 0 of them', inNewAccount],
  ])('deploys as %s into a new account, without reserving from its concurrency of 10', (_stage, template) => {
    expect(reservedOf(template)).toEqual({})
  })

  it('reserves instances for Reconcile and for each step of a video job as prod, so that chats do not hold them up', () => {
    expect(reservedOf(prod)).toEqual({
      'pipeline/submit-video-job': 20,
      'pipeline/check-references': 20,
      'pipeline/poll-video-job': 20,
      'pipeline/store-video': 20,
      'pipeline/settle-video-job': 20,
      'pipeline/fail-video-job': 20,
      'pipeline/notify': 20,
      'pipeline/reconcile': 2,
    })
  })

  it('keeps the default address of API Gateway without a custom domain', () => {
    expect(resourcesOf(prod, 'AWS::ApiGateway::DomainName')).toEqual([])
    const [api] = resourcesOf(prod, 'AWS::ApiGateway::RestApi')
    expect(api?.properties.DisableExecuteApiEndpoint).not.toBe(true)
    expect(JSON.stringify(outputOf(prod, 'BaseUrl'))).toContain('execute-api')
    expect(outputOf(prod, 'ApiDnsRecord')).toBeUndefined()
    expect(outputOf(prod, 'VideoDnsRecord')).toBeUndefined()
  })
})

describe('a custom domain', () => {
  const [domain] = resourcesOf(everything, 'AWS::ApiGateway::DomainName')

  it('leads to the API with its certificate and TLS 1.2, and replaces the default address', () => {
    expect(domain?.properties).toMatchObject({
      DomainName: 'api.example.com',
      RegionalCertificateArn: API_CERTIFICATE,
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
      EndpointAccessMode: 'STRICT',
    })
    const [api] = resourcesOf(everything, 'AWS::ApiGateway::RestApi')
    const [stage] = resourcesOf(everything, 'AWS::ApiGateway::Stage')
    expect(api?.properties.DisableExecuteApiEndpoint).toBe(true)
    const [mapping] = resourcesOf(everything, 'AWS::ApiGateway::BasePathMapping')
    expect(mapping?.properties).toEqual({
      DomainName: { Ref: domain?.id },
      RestApiId: { Ref: api?.id },
      Stage: { Ref: stage?.id },
    })
  })

  it('is in the outputs, with the DNS records to create', () => {
    const [distribution] = resourcesOf(everything, 'AWS::CloudFront::Distribution')
    expect(distribution?.properties.DistributionConfig.ViewerCertificate.AcmCertificateArn).toBe(CDN_CERTIFICATE)
    expect(outputOf(everything, 'BaseUrl')).toBe('https://api.example.com/')
    expect(outputOf(everything, 'VideoBaseUrl')).toBe('https://video.example.com')
    expect(outputOf(everything, 'ApiDnsRecord')).toEqual({
      'Fn::Join': ['', ['api.example.com CNAME ', { 'Fn::GetAtt': [domain?.id, 'RegionalDomainName'] }]],
    })
    expect(outputOf(everything, 'VideoDnsRecord')).toEqual({
      'Fn::Join': ['', ['video.example.com CNAME ', { 'Fn::GetAtt': [distribution?.id, 'DomainName'] }]],
    })
  })
})

describe('given settings', () => {
  it('determine throttles and retention', () => {
    everything.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: Match.arrayWith([Match.objectLike({ ThrottlingRateLimit: 1000, ThrottlingBurstLimit: 500 })]),
    })
    everything.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 90 })
  })

  it('subscribe the address to the topic of the alarms', () => {
    const [topic] = resourcesOf(everything, 'AWS::SNS::Topic')
    expect(resourcesOf(everything, 'AWS::SNS::Subscription').map(({ properties }) => properties)).toEqual([
      { Protocol: 'email', TopicArn: { Ref: topic?.id }, Endpoint: 'oncall@example.com' },
    ])
    expect(resourcesOf(prod, 'AWS::SNS::Subscription')).toEqual([])
  })

  it('make the CDN trust the public keys of the team', () => {
    const encoded = resourcesOf(everything, 'AWS::CloudFront::PublicKey').map(
      ({ properties }) => properties.PublicKeyConfig.EncodedKey,
    )
    expect(encoded.sort()).toEqual([...PUBLIC_KEY_PEMS].sort())
  })
})

describe('reserved concurrency', () => {
  it('is that of the settings for each step of a video job, and 2 for Reconcile', () => {
    const { 'pipeline/reconcile': reconcile, ...steps } = reservedOf(everything)
    expect(reconcile).toBe(2)
    expect(Object.keys(steps)).toHaveLength(7)
    expect(new Set(Object.values(steps))).toEqual(new Set([60]))
  })
})
