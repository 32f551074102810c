import { describe, expect, it } from 'vitest'
import { contextSchema } from '../../lib/config/context-schema.ts'
import { readStageSettings, type StageSettings } from '../../lib/config/stage-settings.ts'

type Context = Readonly<Record<string, unknown>>

const API_CERTIFICATE = 'arn:aws:acm:eu-central-1:111111111111:certificate/0198b3a0-0000-7000-8000-000000000000'
const CDN_CERTIFICATE = API_CERTIFICATE.replace('eu-central-1', 'us-east-1')
const CDN_WEB_ACL = 'arn:aws:wafv2:us-east-1:111111111111:global/webacl/viewers/0198b3a0-0000-7000-8000-000000000000'
const SECRET_VERSION = '0198b3a0-0000-7000-8000-000000000000'
const apiDomain = { apiDomain: 'api.example.com', apiCertificateArn: API_CERTIFICATE }
const videoDomain = { videoDomain: 'video.example.com', videoCertificateArn: CDN_CERTIFICATE }

function read(context: Context, region?: string): StageSettings {
  return readStageSettings((name) => context[name], region)
}

function refusalOf(context: Context, region?: string): string {
  try {
    read(context, region)
  } catch (error) {
    return error instanceof Error && error.name === 'StageSettingsError' ? error.message : String(error)
  }
  return 'taken'
}

describe('the settings of a stage', () => {
  it('throw everything away and wake nobody in dev, which is the default', () => {
    expect(read({})).toEqual(read({ stage: 'dev' }))
    expect(read({})).toEqual({
      stage: 'dev',
      profile: 'dev',
      configFile: 'config/gateway.yaml',
      emulator: false,
      hasCdn: true,
      responseStreaming: true,
      retainsData: false,
      isProtected: false,
      table: undefined,
      apiDomain: undefined,
      videoDomain: undefined,
      frontDoor: { isApiClosed: false, webAclArn: undefined, distributionId: undefined, secretVersion: undefined },
      frontDoorLog: false,
      relay: 'functions',
      cdnPublicKeyPems: [],
      throttle: { requestsPerSecond: 100, burst: 200 },
      waf: undefined,
      logLevel: 'DEBUG',
      logRetentionDays: 7,
      alarms: false,
      alarmEmail: undefined,
      concurrency: {
        apiReserved: undefined,
        pipelineReserved: undefined,
        reconcileReserved: undefined,
        apiProvisioned: 0,
      },
    })
  })

  it('keep data, stop floods and raise alarms in prod', () => {
    expect(read({ stage: 'prod' })).toEqual({
      ...read({}),
      stage: 'prod',
      profile: 'prod',
      retainsData: true,
      throttle: { requestsPerSecond: 5000, burst: 2500 },
      waf: undefined,
      logLevel: 'INFO',
      logRetentionDays: 30,
      frontDoorLog: true,
      alarms: true,
      concurrency: { apiReserved: undefined, pipelineReserved: 20, reconcileReserved: 2, apiProvisioned: 0 },
    })
  })

  it('are those of a profile for a stage with another name, which has to say which', () => {
    expect(read({ stage: 'team-a', profile: 'prod' })).toEqual({ ...read({ stage: 'prod' }), stage: 'team-a' })
    expect(read({ stage: 'team-a', profile: 'dev' })).toEqual({ ...read({}), stage: 'team-a' })
    expect(refusalOf({ stage: 'production' })).toBe(
      'the context setting profile must be dev or prod, because the stage production is neither: add -c profile=dev or -c profile=prod',
    )
    expect(refusalOf({ stage: 'prod', profile: 'dev' })).toBe(
      'the context setting profile must be prod for the stage prod: leave it out',
    )
  })

  it('leave out of an emulator what it has not', () => {
    expect(read({ emulator: 'true' })).toEqual({
      ...read({}),
      emulator: true,
      hasCdn: false,
      responseStreaming: false,
      frontDoor: undefined,
    })
    expect(read({ emulator: 'true', console: 'off' }).frontDoor).toBeUndefined()
    expect(read({ emulator: 'true', responseStreaming: 'false', waf: 'off' }).waf).toBeUndefined()
  })

  it.each<[Context, Partial<StageSettings>]>([
    [{ config: 'other.yaml' }, { configFile: 'other.yaml' }],
    [{ responseStreaming: 'false' }, { responseStreaming: false }],
    [{ retainData: 'true' }, { retainsData: true }],
    [
      { stage: 'prod', retainData: 'false' },
      { retainsData: false, profile: 'prod' },
    ],
    [
      { stage: 'prod', deletionProtection: 'true' },
      { isProtected: true, retainsData: true },
    ],
    [{ stage: 'prod', table: 'reelgate-restored' }, { table: 'reelgate-restored' }],
    [{ table: 'reelgate-restored', retainData: true }, { table: 'reelgate-restored' }],
    [apiDomain, { apiDomain: { domainName: 'api.example.com', certificateArn: API_CERTIFICATE } }],
    [videoDomain, { videoDomain: { domainName: 'video.example.com', certificateArn: CDN_CERTIFICATE } }],
    [{ console: 'off' }, { frontDoor: undefined }],
    [{ console: 'false' }, { frontDoor: undefined }],
    [
      { console: 'on', waf: 'on', apiClosed: 'true', frontDoorWebAclArn: CDN_WEB_ACL },
      { frontDoor: { isApiClosed: true, webAclArn: CDN_WEB_ACL, distributionId: undefined, secretVersion: undefined } },
    ],
    [
      { frontDoorSecretVersion: SECRET_VERSION },
      {
        frontDoor: {
          isApiClosed: false,
          webAclArn: undefined,
          distributionId: undefined,
          secretVersion: SECRET_VERSION,
        },
      },
    ],
    [{ throttleRate: '20', throttleBurst: 40 }, { throttle: { requestsPerSecond: 20, burst: 40 } }],
    [{ throttleBurst: '40' }, { throttle: { requestsPerSecond: 100, burst: 40 } }],
    [
      { stage: 'prod', cdn: 'off' },
      { hasCdn: false, frontDoor: undefined, alarms: true },
    ],
    [
      { cdn: 'off', console: 'off', relay: 'functions' },
      { hasCdn: false, frontDoor: undefined, relay: 'functions' },
    ],
    [{ relay: 'web', waf: 'on', frontDoorWebAclArn: CDN_WEB_ACL }, { relay: 'web' }],
    [{ stage: 'prod', relay: 'web' }, { relay: 'web' }],
    [{ emulator: 'true' }, { hasCdn: false }],
    [{ waf: 'on' }, { waf: { requestsPerAddressInFiveMinutes: 10_000 } }],
    [{ waf: 'on', wafRatePerFiveMinutes: '10' }, { waf: { requestsPerAddressInFiveMinutes: 10 } }],
    [{ stage: 'prod' }, { waf: undefined }],
    [{ stage: 'prod', waf: 'on', wafRatePerFiveMinutes: 2000 }, { waf: { requestsPerAddressInFiveMinutes: 2000 } }],
    [
      { logLevel: 'WARN', logRetentionDays: '90' },
      { logLevel: 'WARN', logRetentionDays: 90 },
    ],
    [{ stage: 'prod', frontDoorLog: 'false' }, { frontDoorLog: false }],
    [{ alarms: 'true' }, { alarms: true, alarmEmail: undefined }],
    [{ alarmEmail: 'oncall@example.com' }, { alarms: true, alarmEmail: 'oncall@example.com' }],
    [{ stage: 'prod', alarms: 'false' }, { alarms: false }],
    [
      { apiReservedConcurrency: 5, pipelineReservedConcurrency: '50', apiProvisionedConcurrency: '5' },
      { concurrency: { apiReserved: 5, pipelineReserved: 50, reconcileReserved: undefined, apiProvisioned: 5 } },
    ],
    [
      { stage: 'prod', pipelineReservedConcurrency: '0', reconcileReservedConcurrency: 0 },
      {
        concurrency: {
          apiReserved: undefined,
          pipelineReserved: undefined,
          reconcileReserved: undefined,
          apiProvisioned: 0,
        },
      },
    ],
    [
      { reconcileReservedConcurrency: '1' },
      {
        concurrency: { apiReserved: undefined, pipelineReserved: undefined, reconcileReserved: 1, apiProvisioned: 0 },
      },
    ],
  ])('take %j', (context, expected) => {
    expect(read(context)).toMatchObject(expected)
  })

  it.each<[string, unknown]>([
    ['stage', ''],
    ['stage', 'Prod'],
    ['stage', 'a'.repeat(33)],
    ['stage', 1],
    ['profile', 'test'],
    ['config', ''],
    ['config', true],
    ['emulator', 'yes'],
    ['responseStreaming', 'no'],
    ['retainData', ''],
    ['deletionProtection', 'yes'],
    ['table', 'ab'],
    ['table', 'arn:aws:dynamodb:eu-central-1:111111111111:table/restored'],
    ['apiDomain', 'https://api.example.com'],
    ['apiDomain', 'localhost'],
    ['apiDomain', '*.example.com'],
    ['apiDomain', 'API.example.com'],
    ['apiCertificateArn', '0198b3a0'],
    ['apiCertificateArn', 'arn:aws:iam::111111111111:server-certificate/name'],
    ['videoDomain', 'video.example.com/v'],
    ['videoCertificateArn', 'arn:aws:acm:us-east-1:1:certificate/0198b3a0'],
    ['cdn', 'no'],
    ['console', 'no'],
    ['apiClosed', 'on'],
    ['frontDoorWebAclArn', CDN_WEB_ACL.replace('us-east-1', 'eu-central-1')],
    ['frontDoorSecretVersion', '2'],
    ['cdnPublicKey', ''],
    ['throttleRate', '0'],
    ['throttleRate', '1.5'],
    ['throttleRate', '1e3'],
    ['throttleRate', ''],
    ['throttleBurst', '-1'],
    ['throttleBurst', 1_000_001],
    ['waf', 'yes'],
    ['wafRatePerFiveMinutes', '9'],
    ['wafRatePerFiveMinutes', '2000000001'],
    ['logLevel', 'info'],
    ['logLevel', 'SILENT'],
    ['logRetentionDays', '31'],
    ['logRetentionDays', 'forever'],
    ['alarms', 1],
    ['alarmEmail', ''],
    ['alarmEmail', 'oncall'],
    ['alarmEmail', 'a@example.com,b@example.com'],
    ['apiReservedConcurrency', '0'],
    ['pipelineReservedConcurrency', 'all'],
    ['reconcileReservedConcurrency', '-1'],
    ['reconcileReservedConcurrency', '11'],
    ['apiProvisionedConcurrency', '-1'],
  ])('refuse %s=%j in one sentence that names it and says what to write', (key, value) => {
    const refusal = refusalOf({ profile: 'prod', [key]: value })
    expect(refusal).toMatch(new RegExp(`^the context setting ${key} must be \\S.*[^.]$`))
    expect(refusal).not.toContain('\n')
  })

  it('refuse a wrong value of every setting', () => {
    for (const key of Object.keys(contextSchema.shape)) {
      expect(refusalOf({ [key]: ['something'] })).toMatch(new RegExp(`^the context setting ${key} must be `))
    }
  })

  it.each<[Context, string]>([
    [{ apiDomain: 'api.example.com' }, 'apiDomain needs apiCertificateArn too'],
    [{ apiCertificateArn: API_CERTIFICATE }, 'apiCertificateArn needs apiDomain too'],
    [{ videoDomain: 'video.example.com' }, 'videoDomain needs videoCertificateArn too'],
    [{ videoCertificateArn: CDN_CERTIFICATE }, 'videoCertificateArn needs videoDomain too'],
    [
      { ...videoDomain, videoCertificateArn: API_CERTIFICATE },
      'videoCertificateArn must be a certificate of us-east-1, the region that CloudFront uses, not of eu-central-1',
    ],
    [
      { ...apiDomain, apiCertificateArn: CDN_CERTIFICATE },
      'apiCertificateArn must be a certificate of eu-central-1, where the API is deployed, not of us-east-1',
    ],
    [{ deletionProtection: 'true' }, 'deletionProtection needs retainData=true'],
    [{ wafRatePerFiveMinutes: '2000' }, 'wafRatePerFiveMinutes needs waf=on'],
    [{ stage: 'prod', wafRatePerFiveMinutes: '2000' }, 'wafRatePerFiveMinutes needs waf=on'],
    [{ alarms: 'false', alarmEmail: 'a@example.com' }, 'alarmEmail needs alarms: leave alarms=false out'],
    [
      { apiReservedConcurrency: '5', apiProvisionedConcurrency: '6' },
      'apiProvisionedConcurrency must be at most apiReservedConcurrency (5)',
    ],
    [{ emulator: 'true', stage: 'prod' }, 'emulator=true needs the profile dev'],
    [{ emulator: 'true', responseStreaming: 'true' }, 'responseStreaming does not work with emulator=true'],
    [{ emulator: 'true', waf: 'on' }, 'waf does not work with emulator=true'],
    [{ emulator: 'true', alarmEmail: 'a@example.com' }, 'alarmEmail does not work with emulator=true'],
    [{ console: 'off', apiClosed: 'true', waf: 'on' }, 'apiClosed needs console=on'],
    [{ console: 'off', frontDoorWebAclArn: CDN_WEB_ACL }, 'frontDoorWebAclArn needs console=on'],
    [{ cdn: 'off', console: 'on' }, 'console needs cdn=on, because CloudFront serves'],
    [{ cdn: 'off', relay: 'web' }, 'relay needs cdn=on'],
    [{ cdn: 'off', apiClosed: 'true', waf: 'on' }, 'apiClosed needs cdn=on'],
    [{ cdn: 'off', frontDoorWebAclArn: CDN_WEB_ACL }, 'frontDoorWebAclArn needs cdn=on'],
    [{ cdn: 'off', ...videoDomain }, 'videoDomain needs cdn=on'],
    [{ cdn: 'off', cdnPublicKey: 'own.pem' }, 'cdnPublicKey needs cdn=on'],
    [{ console: 'off', relay: 'web' }, 'relay=web needs console=on'],
    [{ waf: 'on', relay: 'web' }, 'relay=web needs frontDoorWebAclArn'],
    [{ console: 'off', frontDoorLog: 'true' }, 'frontDoorLog needs console=on'],
    [{ apiClosed: 'true' }, 'apiClosed needs waf=on'],
    [{ emulator: 'true', console: 'on' }, 'console does not work with emulator=true'],
    [{ emulator: 'true', ...apiDomain }, 'apiDomain does not work with emulator=true'],
    [{ emulator: 'true', ...videoDomain }, 'videoDomain does not work with emulator=true'],
    [{ emulator: 'true', cdnPublicKey: 'own.pem' }, 'cdnPublicKey does not work with emulator=true'],
    [{ emulator: 'true', apiProvisionedConcurrency: 1 }, 'apiProvisionedConcurrency does not work with emulator=true'],
  ])('refuse %j together', (context, reason) => {
    expect(refusalOf(context, 'eu-central-1')).toContain(reason)
  })

  it('refuse one name for two services', () => {
    expect(refusalOf({ table: 'reelgate-restored' })).toMatch(/^the context setting table needs retainData=true, also /)
    expect(refusalOf({ ...apiDomain, ...videoDomain, videoDomain: 'api.example.com' })).toBe(
      'the context settings apiDomain and videoDomain must be two different names',
    )
  })

  it('leave the region of the API’s certificate to CloudFormation where the stack’s region is not known', () => {
    expect(read({ ...apiDomain }).apiDomain?.certificateArn).toBe(API_CERTIFICATE)
  })
})
