import type { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { endpointRateOf } from '#aws/endpoint-rate.ts'
import { usageOf } from './handler-usage.ts'
import { relayResource, synthesizeRelay, WEB } from './relay-template.ts'
import { shippedConfiguration, stageSettings, synthesizeStack } from './synthesize-stack.ts'

const NAME = { 'Fn::Join': ['', [{ Ref: 'AWS::StackName' }, '-relay-', { Ref: 'AWS::Region' }]] }

const template = synthesizeRelay()
const changed = synthesizeRelay({ logLevel: 'WARN' })
const shared = synthesizeRelay({ throttleRate: '250', relayWeight: '10', relayPreviousRevision: 'r-earlier' })
const revision = relayResource(template, 'AWS::Lambda::WebFunctionRevision')
const service = revision.properties.ServiceConfig
const prod = relayResource(template, 'AWS::Lambda::WebFunctionEndpoint', 'Prod')
const candidate = relayResource(template, 'AWS::Lambda::WebFunctionEndpoint', 'Candidate')
const proof = relayResource(template, 'Custom::RelaySmoke')
const archive = relayResource(template, 'Custom::RelayCode')
const logs = ['Log1', 'LocalLog'].map((part) => relayResource(template, 'AWS::Logs::LogGroup', part))

describe('RelayWebFunction: the revision', () => {
  it('runs Node 24 from one version of an object in the bucket of the code', () => {
    const attribute = (name: string) => ({ 'Fn::GetAtt': [archive.id, name] })
    expect(revision.properties.BuildConfig).toEqual({
      RuntimeConfig: { Runtime: 'nodejs24.x' },
      CodeConfig: {
        S3Object: {
          Bucket: { Ref: relayResource(template, 'AWS::S3::Bucket').id },
          Key: attribute('Key'),
          VersionId: attribute('VersionId'),
        },
      },
    })
  })

  it('serves 64 requests at once for at most 900 seconds each', () => {
    expect(service).toMatchObject({ MaxConcurrencyPerEnvironment: 64, TimeoutSeconds: 900 })
  })

  it('names its function by the bare name, which has at most 64 characters', () => {
    for (const type of ['AWS::Lambda::WebFunction', 'AWS::Lambda::WebFunctionRevision'] as const) {
      expect(relayResource(template, type).properties.FunctionName).toEqual(NAME)
    }
    expect([prod, candidate].map(({ properties }) => properties.FunctionName)).toEqual([NAME, NAME])
    expect(`Reelgate-${'s'.repeat(32)}-relay-ap-northeast-1`.length).toBeLessThanOrEqual(64)
  })

  it('is created after its function, role, permissions and code', () => {
    const [role, policy, bucketPolicy] = [
      relayResource(template, 'AWS::IAM::Role', 'RoleD'),
      relayResource(template, 'AWS::IAM::Policy', 'RoleDefault'),
      relayResource(template, 'AWS::S3::BucketPolicy'),
    ]
    const { id } = relayResource(template, 'AWS::Lambda::WebFunction')
    expect(revision.DependsOn).toEqual(expect.arrayContaining([id, role.id, policy.id, bucketPolicy.id]))
  })

  it('has names and ARNs in its environment, and no secret', () => {
    const { RELEASE, ...variables } = service.EnvironmentVariables
    expect(variables).toEqual({
      POWERTOOLS_SERVICE_NAME: 'reelgate',
      POWERTOOLS_METRICS_NAMESPACE: 'Reelgate-test',
      LOG_LEVEL: 'INFO',
      NODE_OPTIONS: '--max-semi-space-size=8',
      TABLE_NAME: { Ref: expect.stringMatching(/^JobTable/) },
      CHANNEL_SECRET_ARN: { Ref: expect.stringMatching(/^ChannelSecret/) },
      FRONT_DOOR_SECRET_ARN: { Ref: expect.stringMatching(/^FrontDoorSecret/) },
    })
    expect(RELEASE).toMatch(/^[0-9a-f]{12}$/)
    expect(Object.keys(variables).filter((name) => name.startsWith('AWS_LAMBDA_'))).toEqual([])
  })

  it('has every variable that its code reads', () => {
    const given = Object.keys(service.EnvironmentVariables)
    const read = usageOf('relay-server', 'main.ts').variables
    const required = read.filter((name) => /^(TABLE|CHANNEL|FRONT_DOOR)_/.test(name))
    expect(required.filter((name) => !given.includes(name))).toEqual([])
  })

  it('tells its process which origins may call it', () => {
    const settings = stageSettings(WEB)
    const config = { ...shippedConfiguration.config, cors: { origins: ['https://app.example.com'] } }
    const open = relayResource(synthesizeStack({ settings, config }), 'AWS::Lambda::WebFunctionRevision')
    expect(open.properties.ServiceConfig.EnvironmentVariables.CORS_ORIGINS).toBe('https://app.example.com')
  })

  it('is another resource after a change of the environment, and the one before is kept', () => {
    expect(relayResource(changed, 'AWS::Lambda::WebFunctionRevision').id).not.toBe(revision.id)
    expect(relayResource(shared, 'AWS::Lambda::WebFunctionRevision').id).toBe(revision.id)
    expect([revision.DeletionPolicy, revision.UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain'])
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
})

describe('RelayWebFunction: a release', () => {
  const weights = (of: Template, part: string) =>
    relayResource(of, 'AWS::Lambda::WebFunctionEndpoint', part).properties.RevisionWeights
  const all = { RevisionId: { 'Fn::GetAtt': [revision.id, 'RevisionId'] }, Weight: 100 }

  it('is served by the endpoint candidate alone, then proved, then served by the endpoint prod', () => {
    expect(candidate.properties).toMatchObject({ EndpointName: 'candidate', RevisionWeights: [all] })
    expect(proof.properties).toMatchObject({
      Origin: { 'Fn::Join': ['', ['https://', { 'Fn::GetAtt': [candidate.id, 'DomainName'] }]] },
      Release: service.EnvironmentVariables.RELEASE,
    })
    expect(prod.properties).toMatchObject({ EndpointName: 'prod', RevisionWeights: [all] })
    expect(prod.DependsOn).toContain(proof.id)
  })

  it('has a proof of its own, so that a rollback proves nothing again', () => {
    expect(relayResource(changed, 'Custom::RelaySmoke').id).not.toBe(proof.id)
  })

  it('can share the requests with the revision before, which the endpoint candidate does not serve', () => {
    expect(weights(shared, 'Prod')).toEqual([
      { ...all, Weight: 10 },
      { RevisionId: 'r-earlier', Weight: 90 },
    ])
    expect(weights(shared, 'Candidate')).toEqual([all])
    const back = synthesizeRelay({ relayWeight: '0', relayPreviousRevision: 'r-earlier' })
    expect(weights(back, 'Prod')).toEqual([{ RevisionId: 'r-earlier', Weight: 100 }])
  })

  it('is the revision that an output names, for the next gradual release', () => {
    const { RelayFunctionName, RelayRevisionId } = template.toJSON().Outputs
    expect([RelayFunctionName.Value, RelayRevisionId.Value]).toEqual([NAME, all.RevisionId])
  })
})

describe('RelayWebFunction: endpoints', () => {
  it('are in the home region, and leave the check of each request to the process', () => {
    for (const { properties } of [prod, candidate]) {
      expect(properties).toMatchObject({ EndpointType: 'HomeRegion', AuthType: 'ApplicationManaged' })
    }
  })

  it('bound the requests of all clients together, as the API does', () => {
    const rate = (of: Template) =>
      relayResource(of, 'AWS::Lambda::WebFunctionEndpoint', 'Prod').properties.ThrottleConfig
    expect([rate(template), rate(shared)]).toEqual([{ RateLimit: 5_000 }, { RateLimit: 200 }])
  })

  it.each([
    [1, 100],
    [999, 900],
    [1_000, 1_000],
    [5_999, 5_000],
    [10_000, 10_000],
    [10_001, undefined],
  ])('take the throttle of %i requests a second as the rate %s', (throttle, rate) => {
    expect(endpointRateOf(throttle)).toBe(rate)
  })

  it('bound what the check of a release may use', () => {
    expect(candidate.properties).toMatchObject({
      ScalingConfig: { MaxEnvironments: 2 },
      ThrottleConfig: { RateLimit: 100 },
    })
    expect(prod.properties).not.toHaveProperty('ScalingConfig')
  })
})

describe('relay=functions', () => {
  it('has nothing of a Web Function', () => {
    const plain = synthesizeStack({ settings: stageSettings({ ...WEB, relay: 'functions' }) }).toJSON()
    const ids = Object.keys({ ...plain.Resources, ...plain.Outputs })
    expect(ids.filter((id) => id.startsWith('Relay') || id.startsWith('FrontDoorRelay'))).toEqual([])
    expect(JSON.stringify(plain)).not.toContain('AWS::Lambda::Web')
  })
})
