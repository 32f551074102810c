import { describe, expect, it } from '@jest/globals'
import type { Template } from 'aws-cdk-lib/assertions'
import { relayRouteOf } from '#lambdas/relay-server/relay-server.ts'
import { ROUTES } from '#routes/index.ts'
import { VIEWER_ADDRESS_CODE } from '#stack/front-door.ts'
import { endpointRateOf, RELAY_PATHS } from '#stack/relay-web-function.ts'
import { EVERY_SETTING } from './every-setting.ts'
import { usageOf } from './handler-usage.ts'
import {
  relayResource,
  relayStatements,
  resourcesOf,
  shippedConfiguration,
  stageSettings,
  synthesizeRelay,
  synthesizeStack,
  WEB,
} from './synthesize-stack.ts'

const NAME = { 'Fn::Join': ['', [{ Ref: 'AWS::StackName' }, '-relay-', { Ref: 'AWS::Region' }]] }

const template = synthesizeRelay()
const revision = relayResource(template, 'AWS::Lambda::WebFunctionRevision')
const service = revision.properties.ServiceConfig
const endpoint = relayResource(template, 'AWS::Lambda::WebFunctionEndpoint')
const bucket = relayResource(template, 'AWS::S3::Bucket')
const copy = relayResource(template, 'Custom::S3ObjectCopy')
const logs = ['Log1', 'LocalLog'].map((part) => relayResource(template, 'AWS::Logs::LogGroup', part))

describe('RelayWebFunction', () => {
  it('runs Node 24 from one version of an object in a bucket of the stack', () => {
    const attribute = (name: string) => ({ 'Fn::GetAtt': [copy.id, name] })
    expect(revision.properties.BuildConfig).toEqual({
      RuntimeConfig: { Runtime: 'nodejs24.x' },
      CodeConfig: {
        S3Object: { Bucket: attribute('Bucket'), Key: attribute('Key'), VersionId: attribute('VersionId') },
      },
    })
    expect(copy.properties.DestinationBucketName).toEqual({ Ref: bucket.id })
  })

  it('serves 64 requests at once for at most 900 seconds each', () => {
    expect(service).toMatchObject({ MaxConcurrencyPerEnvironment: 64, TimeoutSeconds: 900 })
  })

  it('has a name of at most 64 characters, which an output tells', () => {
    expect(relayResource(template, 'AWS::Lambda::WebFunction').properties.FunctionName).toEqual(NAME)
    expect(template.toJSON().Outputs.RelayFunctionName.Value).toEqual(NAME)
    expect(`Reelgate-${'s'.repeat(32)}-relay-ap-northeast-1`.length).toBeLessThanOrEqual(64)
  })

  it('is created after its permissions and what lets it read its code', () => {
    const [role, policy] = ['Role', 'RoleDefault'].map((part, index) =>
      relayResource(template, index === 0 ? 'AWS::IAM::Role' : 'AWS::IAM::Policy', index === 0 ? 'RoleD' : part),
    )
    expect(revision.DependsOn).toEqual(expect.arrayContaining([role?.id, policy?.id]))
    expect(revision.DependsOn).toContain(relayResource(template, 'AWS::S3::BucketPolicy').id)
  })

  it('gives its process names and ARNs, and no secret', () => {
    expect(service.EnvironmentVariables).toEqual({
      POWERTOOLS_SERVICE_NAME: 'reelgate',
      POWERTOOLS_METRICS_NAMESPACE: 'Reelgate-test',
      LOG_LEVEL: 'INFO',
      NODE_OPTIONS: '--max-semi-space-size=8',
      TABLE_NAME: { Ref: expect.stringMatching(/^JobTable/) },
      CHANNEL_SECRET_ARN: { Ref: expect.stringMatching(/^ChannelSecret/) },
      FRONT_DOOR_SECRET_ARN: { Ref: expect.stringMatching(/^FrontDoorSecret/) },
    })
  })

  it('gives its process every variable that the code requires', () => {
    const given = Object.keys(service.EnvironmentVariables)
    const read = usageOf('relay-server', 'main.ts').variables
    const required = read.filter((name) => /^(TABLE|CHANNEL|FRONT_DOOR)_/.test(name))
    expect(required.filter((name) => !given.includes(name))).toEqual([])
  })

  it('tells its process which origins may call it', () => {
    const config = { ...shippedConfiguration.config, cors: { origins: ['https://app.example.com'] } }
    const open = synthesizeStack({ settings: stageSettings(WEB), config })
    const { properties } = relayResource(open, 'AWS::Lambda::WebFunctionRevision')
    expect(properties.ServiceConfig.EnvironmentVariables.CORS_ORIGINS).toBe('https://app.example.com')
  })

  it('writes to two log groups of the stack, whose lines expire', () => {
    const [group, local] = logs
    expect(service.TelemetryConfig.LoggingConfig.LogGroup).toEqual({ Ref: group?.id })
    expect(local?.properties.LogGroupName).toEqual({ 'Fn::Join': ['', [{ Ref: group?.id }, '.local']] })
    expect(logs.map(({ properties }) => properties.RetentionInDays)).toEqual([30, 30])
    expect(relayResource(template, 'AWS::Lambda::WebFunction').DependsOn).toEqual(
      expect.arrayContaining(logs.map(({ id }) => id)),
    )
  })

  it('is absent with relay=functions', () => {
    const plain = synthesizeStack({ settings: stageSettings({ ...WEB, relay: 'functions' }) }).toJSON()
    const ids = Object.keys({ ...plain.Resources, ...plain.Outputs })
    expect(ids.filter((id) => id.startsWith('Relay') || id.startsWith('FrontDoorRelay'))).toEqual([])
    expect(JSON.stringify(plain)).not.toContain('AWS::Lambda::Web')
  })
})

describe('the endpoint of RelayWebFunction', () => {
  it('serves the revision of the deployment, and leaves the check of each request to the process', () => {
    expect(endpoint.properties).toMatchObject({
      EndpointName: 'prod',
      EndpointType: 'HomeRegion',
      AuthType: 'ApplicationManaged',
      RevisionWeights: [{ RevisionId: { 'Fn::GetAtt': [revision.id, 'RevisionId'] }, Weight: 100 }],
    })
  })

  it('serves the revision before until the deployment has succeeded: nothing keeps or deletes one by itself', () => {
    expect([revision.DeletionPolicy, revision.UpdateReplacePolicy]).toEqual([undefined, undefined])
    expect(copy.properties.Configuration.ServiceConfig.EnvironmentVariables).toEqual(service.EnvironmentVariables)
  })

  it('bounds the requests of all clients together, as the API does', () => {
    const { properties } = relayResource(synthesizeRelay({ throttleRate: '250' }), 'AWS::Lambda::WebFunctionEndpoint')
    expect([endpoint.properties.ThrottleConfig, properties.ThrottleConfig]).toEqual([
      { RateLimit: 5_000 },
      { RateLimit: 200 },
    ])
    expect(endpoint.properties).not.toHaveProperty('ScalingConfig')
  })

  it.each([
    [1, 100],
    [999, 900],
    [1_000, 1_000],
    [5_999, 5_000],
    [10_000, 10_000],
    [10_001, undefined],
  ])('takes the throttle of %i requests a second as the rate %s', (throttle, rate) => {
    expect(endpointRateOf(throttle)).toBe(rate)
  })
})

describe('the permissions of RelayWebFunction', () => {
  it('are those of the code on the table, by partition', () => {
    const usage = usageOf('relay-server', 'main.ts')
    const onTable = relayStatements(template, 'RoleDefault').filter(({ Condition }) => Condition !== undefined)
    const actions = onTable.flatMap(({ Action }) => [Action].flat())
    const partitions = onTable.flatMap(
      ({ Condition }) => Object(Condition)['ForAllValues:StringLike']['dynamodb:LeadingKeys'],
    )
    expect([...new Set(actions)].sort()).toEqual(usage.table.map((action) => `dynamodb:${action}`))
    expect([...new Set(partitions)].sort()).toEqual(usage.partitions)
  })

  it('are two secrets and two log groups besides', () => {
    const others = relayStatements(template, 'RoleDefault').filter(({ Condition }) => Condition === undefined)
    expect(others).toEqual([
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: logs.map(({ id }) => ({ 'Fn::GetAtt': [id, 'Arn'] })).toReversed(),
      },
      {
        Effect: 'Allow',
        Action: 'secretsmanager:GetSecretValue',
        Resource: [
          { Ref: expect.stringMatching(/^ChannelSecret/) },
          { Ref: expect.stringMatching(/^FrontDoorSecret/) },
        ],
      },
    ])
  })

  it('let only Lambda assume the role', () => {
    const { Statement } = relayResource(template, 'AWS::IAM::Role', 'RoleD').properties.AssumeRolePolicyDocument
    expect(Statement).toEqual([
      { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'lambda.amazonaws.com' } },
    ])
  })
})

describe('the bucket of the code of RelayWebFunction', () => {
  it('is private, keeps versions and lets nothing expire, because each process reads its code when it starts', () => {
    expect(bucket.properties).toMatchObject({
      VersioningConfiguration: { Status: 'Enabled' },
      PublicAccessBlockConfiguration: { BlockPublicPolicy: true, RestrictPublicBuckets: true },
    })
    expect(bucket.properties).not.toHaveProperty('LifecycleConfiguration')
    const encryption = bucket.properties.BucketEncryption.ServerSideEncryptionConfiguration[0]
    expect(encryption.ServerSideEncryptionByDefault.SSEAlgorithm).toBe('AES256')
  })

  it('is read by revisions of this function only', () => {
    const { Statement } = relayResource(template, 'AWS::S3::BucketPolicy').properties.PolicyDocument
    const allowing = Statement.filter(({ Effect }: { Effect: string }) => Effect === 'Allow')
    const [account, region] = [{ Ref: 'AWS::AccountId' }, { Ref: 'AWS::Region' }]
    const arn = ['arn:', { Ref: 'AWS::Partition' }, ':lambda:', region, ':', account, ':web-function/']
    const revisions = [...arn, { Ref: 'AWS::StackName' }, '-relay-', region, '/revision/*']
    expect(allowing).toEqual([
      {
        Effect: 'Allow',
        Principal: { Service: 'lambda.amazonaws.com' },
        Action: ['s3:GetObject', 's3:GetObjectVersion'],
        Resource: {
          'Fn::Join': ['', [{ 'Fn::GetAtt': [bucket.id, 'Arn'] }, expect.stringMatching(/^\/web-function\//)]],
        },
        Condition: {
          StringEquals: { 'aws:SourceAccount': account },
          ArnLike: { 'aws:SourceArn': { 'Fn::Join': ['', revisions] } },
        },
      },
    ])
  })
})

function distributionOf(of: Template) {
  return resourcesOf(of, 'AWS::CloudFront::Distribution')[0]?.properties.DistributionConfig
}

type Behavior = Readonly<Record<string, unknown>> & { readonly PathPattern: string; readonly TargetOriginId: string }

const behaviors: Behavior[] = distributionOf(template).CacheBehaviors

/** The behavior of a path: CloudFront takes the first pattern that matches (Developer Guide, "Path pattern"). */
function behaviorOf(path: string, all = behaviors): Behavior | undefined {
  const matches = (pattern: string) =>
    new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('.', '[^]')}$`).test(path)
  return all.find(({ PathPattern }) => matches(PathPattern))
}

function originOf(of: Template, path: string) {
  const { CacheBehaviors, Origins } = distributionOf(of)
  return Origins.find(({ Id }: { Id: string }) => Id === behaviorOf(path, CacheBehaviors)?.TargetOriginId)
}

const relayOrigin = originOf(template, '/v1/chat/completions')

describe('the front door with relay=web', () => {
  it.each(ROUTES.map(({ method, path }) => [method, path.replaceAll(/\{\w+\}/g, 'some-id')] as const))(
    'sends %s %s to the relay server if that serves the route, else to the API',
    (method, path) => {
      const isServed = relayRouteOf(method, path) !== undefined
      expect(behaviorOf(path)?.TargetOriginId === relayOrigin.Id).toBe(isServed)
    },
  )

  it.each([
    '/v1/video/generations',
    '/v1/video/generations/some-id/chat/completions',
    '/v1/chat/completions/',
    '/v1/images/generations/some-id',
    '/v1/modelsx',
    '/health',
    '/admin/models',
  ])('leaves %s to the API', (path) => {
    expect(behaviorOf(path)?.TargetOriginId).not.toBe(relayOrigin.Id)
  })

  it('has the paths of the relay server before those of the API', () => {
    expect(behaviors.map(({ PathPattern }) => PathPattern)).toEqual([
      ...['/console', '/console/*'],
      ...RELAY_PATHS,
      ...['/admin/*', '/v1/*', '/health', '/openapi.json'],
    ])
  })

  it.each([...RELAY_PATHS])('sends %s on with every method, uncached and unchanged', (path) => {
    expect(behaviors.find(({ PathPattern }) => PathPattern === path)).toMatchObject({
      AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
      // AWS's policies CachingDisabled and AllViewerExceptHostHeader: an endpoint knows its own host alone.
      CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
      OriginRequestPolicyId: 'b689b0a8-53d0-40ab-baf2-68738e2966ac',
      Compress: false,
      ViewerProtocolPolicy: 'https-only',
    })
  })

  it('reaches the endpoint over TLS, keeps its connections, and waits 120 seconds for the next byte of a response without an end', () => {
    expect(relayOrigin).toMatchObject({
      DomainName: { 'Fn::GetAtt': [endpoint.id, 'DomainName'] },
      CustomOriginConfig: {
        OriginProtocolPolicy: 'https-only',
        OriginSSLProtocols: ['TLSv1.2'],
        OriginReadTimeout: 120,
        OriginKeepaliveTimeout: 60,
      },
    })
    expect(relayOrigin).not.toHaveProperty('ResponseCompletionTimeout')
  })

  it('proves itself to the relay server by the secret that the API gets, also while it is replaced', () => {
    const rotating = synthesizeRelay({ frontDoorSecretVersion: EVERY_SETTING.frontDoorSecretVersion })
    for (const each of [template, rotating]) {
      expect(originOf(each, '/v1/models').OriginCustomHeaders).toEqual(originOf(each, '/health').OriginCustomHeaders)
    }
    expect(JSON.stringify(relayOrigin.OriginCustomHeaders)).toContain(':SecretString:current::}}')
  })

  it('tells the relay server the address of the viewer', () => {
    const [association] = Object(behaviorOf('/v1/models')?.FunctionAssociations)
    const [id] = association.FunctionARN['Fn::GetAtt']
    const edge = resourcesOf(template, 'AWS::CloudFront::Function').find((each) => each.id === id)
    expect(edge?.properties.FunctionCode).toBe(VIEWER_ADDRESS_CODE)
  })

  it('is behind the web ACL of the distribution', () => {
    expect(distributionOf(template).WebACLId).toBe(WEB.frontDoorWebAclArn)
  })
})

function alarmOf(name: string) {
  return resourcesOf(template, 'AWS::CloudWatch::Alarm').find(
    ({ properties }) => properties.AlarmName === `Reelgate-test-${name}`,
  )?.properties
}

describe('relayAlarms', () => {
  it('ring when five responses and one in a hundred are a 5xx, and take missing data for good', () => {
    const alarm = alarmOf('RelayServerErrors')
    expect(alarm).toMatchObject({ Threshold: 1, TreatMissingData: 'notBreaching' })
    const [expression, ...metrics] = alarm?.Metrics ?? []
    expect(expression.Expression).toBe(
      'IF(FILL(failed, 0) >= 5, 100 * FILL(failed, 0) / (FILL(succeeded, 0) + FILL(refused, 0) + FILL(failed, 0)), 0)',
    )
    const found = metrics.map(({ MetricStat: { Metric: metric } }: { MetricStat: { Metric: object } }) => metric)
    const dimensions = { Namespace: 'AWS/Lambda/Web', Dimensions: [{ Name: 'FunctionName', Value: NAME }] }
    expect(found).toEqual(
      ['2XX', '4XX', '5XX'].map((each) => ({ ...dimensions, MetricName: `HTTPResponseStatusClass${each}` })),
    )
  })

  it('ring when a process did not start, which Lambda tells in the log alone', () => {
    const { properties } = relayResource(template, 'AWS::Logs::MetricFilter')
    expect(properties).toMatchObject({
      FilterPattern: '{ $.type = "platform.initReport" && $.record.status = "failure" }',
      LogGroupName: { Ref: logs[0]?.id },
      MetricTransformations: [
        { MetricNamespace: 'Reelgate-test', MetricName: 'relay_starts_failed', MetricValue: '1' },
      ],
    })
    expect(alarmOf('RelayNotStarting')).toMatchObject({
      Namespace: 'Reelgate-test',
      MetricName: 'relay_starts_failed',
      Threshold: 1,
      TreatMissingData: 'notBreaching',
    })
  })

  it('have a graph on the dashboard', () => {
    const [dashboard] = resourcesOf(template, 'AWS::CloudWatch::Dashboard')
    const body = JSON.stringify(dashboard?.properties.DashboardBody)
    expect(body).toContain('Relay server: responses')
    expect(body).toContain('relay_starts_failed')
  })
})
