import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { SETTINGS } from '../../lib/config/context-settings.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import {
  leftOutSentence,
  readStageSettings,
  refuseUnsupportedRegion,
  requireChannels,
  type StageSettings,
  unprotectedSentence,
} from '../../lib/config/stage-settings.ts'
import { SAMPLE_FILE } from './edited-config.ts'

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
      logRetentionDays: 7,
      alarms: false,
      alarmEmail: undefined,
      concurrency: { pipelineReserved: undefined, reconcileReserved: undefined },
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
      logRetentionDays: 30,
      frontDoorLog: true,
      alarms: true,
      concurrency: { pipelineReserved: 20, reconcileReserved: 2 },
    })
  })

  it('are those of a profile for a stage with another name, which has to say which', () => {
    expect(read({ stage: 'team-a', profile: 'prod' })).toEqual({ ...read({ stage: 'prod' }), stage: 'team-a' })
    expect(read({ stage: 'team-a', profile: 'dev' })).toEqual({ ...read({}), stage: 'team-a' })
    expect(refusalOf({ stage: 'production' })).toBe(
      'the setting profile must be dev or prod, because the stage production is neither: add -c profile=dev or -c profile=prod',
    )
    expect(refusalOf({ stage: 'prod', profile: 'dev' })).toBe(
      'the setting profile must be prod for the stage prod: leave it out',
    )
  })

  it('leave out of an emulator what it has not', () => {
    expect(read({ emulator: 'true' })).toEqual({
      ...read({}),
      emulator: true,
      hasCdn: false,
      frontDoor: undefined,
    })
    expect(read({ emulator: 'true', console: 'off' }).frontDoor).toBeUndefined()
    expect(read({ emulator: 'true', relay: 'functions', waf: 'off' }).waf).toBeUndefined()
  })

  it.each<[Context, Partial<StageSettings>]>([
    [{ config: 'other.yaml' }, { configFile: 'other.yaml' }],
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
      { frontDoorDistributionId: 'E2QWRUHAPOMQZL', frontDoorSecretVersion: SECRET_VERSION },
      {
        frontDoor: {
          isApiClosed: false,
          webAclArn: undefined,
          distributionId: 'E2QWRUHAPOMQZL',
          secretVersion: SECRET_VERSION,
        },
      },
    ],
    [{ throttleRate: '20' }, { throttle: { requestsPerSecond: 20, burst: 200 } }],
    [{ throttleRate: 8001 }, { throttle: { requestsPerSecond: 8001, burst: 4001 } }],
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
    [{ logRetentionDays: '90' }, { logRetentionDays: 90 }],
    [{ alarmEmail: 'oncall@example.com' }, { alarms: true, alarmEmail: 'oncall@example.com' }],
    [{ pipelineReservedConcurrency: '50' }, { concurrency: { pipelineReserved: 50, reconcileReserved: 2 } }],
    [
      { stage: 'prod', pipelineReservedConcurrency: '0' },
      { concurrency: { pipelineReserved: undefined, reconcileReserved: undefined } },
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
    ['throttleRate', 1_000_001],
    ['waf', 'yes'],
    ['wafRatePerFiveMinutes', '9'],
    ['wafRatePerFiveMinutes', '2000000001'],
    ['logRetentionDays', '31'],
    ['logRetentionDays', 'forever'],
    ['alarmEmail', ''],
    ['alarmEmail', 'oncall'],
    ['alarmEmail', 'a@example.com,b@example.com'],
    ['pipelineReservedConcurrency', 'all'],
    ['pipelineReservedConcurrency', '-1'],
  ])('refuse %s=%j in one sentence that names it and says what to write', (key, value) => {
    const refusal = refusalOf({ profile: 'prod', [key]: value })
    expect(refusal).toMatch(new RegExp(`^the setting ${key} must be \\S.*[^.]$`))
    expect(refusal).not.toContain('\n')
  })

  it('refuse a wrong value of every setting', () => {
    for (const key of Object.keys(SETTINGS)) {
      expect(refusalOf({ [key]: ['something'] })).toMatch(new RegExp(`^the setting ${key} must be `))
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
    [{ emulator: 'true', stage: 'prod' }, 'emulator=true needs the profile dev'],
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
    [{ apiClosed: 'true' }, 'apiClosed needs waf=on'],
    [{ emulator: 'true', console: 'on' }, 'console does not work with emulator=true'],
    [{ emulator: 'true', ...apiDomain }, 'apiDomain does not work with emulator=true'],
    [{ emulator: 'true', ...videoDomain }, 'videoDomain does not work with emulator=true'],
    [{ emulator: 'true', cdnPublicKey: 'own.pem' }, 'cdnPublicKey does not work with emulator=true'],
  ])('refuse %j together', (context, reason) => {
    expect(refusalOf(context, 'eu-central-1')).toContain(reason)
  })

  it('refuse one name for two services', () => {
    expect(refusalOf({ table: 'reelgate-restored' })).toMatch(/^the setting table needs retainData=true, also /)
    expect(refusalOf({ ...apiDomain, ...videoDomain, videoDomain: 'api.example.com' })).toBe(
      'the settings apiDomain and videoDomain must be two different names',
    )
  })

  it('leave the region of the API’s certificate to CloudFormation where the stack’s region is not known', () => {
    expect(read({ ...apiDomain }).apiDomain?.certificateArn).toBe(API_CERTIFICATE)
  })
})

const refusing =
  (region: string | undefined, emulator = false) =>
  () =>
    refuseUnsupportedRegion({ region, emulator })

describe('refuseUnsupportedRegion', () => {
  it.each([
    ['us-gov-west-1', 'aws-us-gov (GovCloud)'],
    ['us-gov-east-1', 'aws-us-gov (GovCloud)'],
    ['cn-north-1', 'aws-cn (China)'],
    ['cn-northwest-1', 'aws-cn (China)'],
    ['us-isob-east-1', 'aws-iso'],
    ['eu-isoe-west-1', 'aws-iso'],
  ])('refuses %s in one sentence that says why and where to go', (region, partition) => {
    expect(refusing(region)).toThrow(
      `the region ${region} is in the partition ${partition}, which has no CloudFront with key groups for signed video urls: deploy to a region of the partition aws, such as eu-central-1`,
    )
  })

  it.each(['us-east-1', 'eu-central-1', 'ap-southeast-4', 'il-central-1', undefined])('takes %s', (region) => {
    expect(refusing(region)).not.toThrow()
  })

  it('takes every region on an emulator, which has no CDN', () => {
    expect(refusing('cn-north-1', true)).not.toThrow()
  })
})

const sentence = (context: Readonly<Record<string, unknown>>) =>
  unprotectedSentence(readStageSettings((name) => context[name]))

describe('unprotectedSentence', () => {
  it('tells a deployment that keeps its data to protect them from the next one on', () => {
    expect(sentence({ stage: 'prod' })).toBe(
      'the stage prod is not protected against deletion, so that a failed first deployment can be repeated: set deletionProtection to true from the next deployment on',
    )
    expect(sentence({ stage: 'dev', retainData: 'true' })).toContain('the stage dev is not protected')
  })

  it('says nothing where a stage is protected, or keeps nothing', () => {
    expect(sentence({ stage: 'prod', deletionProtection: 'true' })).toBeUndefined()
    expect(sentence({ stage: 'prod', retainData: 'false' })).toBeUndefined()
    expect(sentence({})).toBeUndefined()
  })
})

const stage = { stage: 'live', profile: 'prod', configFile: 'config/gateway.yaml' } as const
const load = (environment: Record<string, string>) =>
  loadGatewayConfig({ file: SAMPLE_FILE, environment, mode: 'synth' })

describe('the channels of a stage with the profile prod', () => {
  it('are required by requireChannels, which lets a stage of the profile dev have none', () => {
    const loaded = load({})
    expect(() => requireChannels(stage, { ...loaded, leftOut: ['chat', 'film'] })).toThrow(
      'the stage live has no channel: set the base urls of chat, film of config/gateway.yaml',
    )
    expect(() => requireChannels({ ...stage, profile: 'dev' }, loaded)).not.toThrow()
    expect(() => requireChannels(stage, load({ P1_BASE_URL: 'https://p1.example' }))).not.toThrow()
  })

  it('that a missing variable takes out are named by leftOutSentence', () => {
    const loaded = load({ P1_BASE_URL: 'https://p1.example', RELAY_BASE_URL: 'https://relay.example/v1' })
    expect(leftOutSentence(stage, loaded)).toBe(
      'The stage live gets the channels p1-main, openai-main, but not p2-direct, p2-proxy, because their base urls are not set. If the deployed stage has one of these, it loses it.',
    )
    expect(leftOutSentence({ ...stage, profile: 'dev' }, loaded)).toBeUndefined()
    expect(leftOutSentence(stage, { ...loaded, leftOut: [] })).toBeUndefined()
  })
})

describe('the public keys that a team brings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cdn-public-keys-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const PEM = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const PRIVATE_PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

  function write(name: string, text: string): string {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }

  /** What a stage gets of `-c cdnPublicKey`. */
  function readPublicKeys(files: string | undefined): readonly string[] {
    return readStageSettings((name) => (name === 'cdnPublicKey' ? files : undefined)).cdnPublicKeyPems
  }

  const own = write('own.pem', PEM)

  function refusalOf(files: string): string {
    try {
      readPublicKeys(files)
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    }
    return 'taken'
  }

  it('are none unless files are named', () => {
    expect(readPublicKeys(undefined)).toEqual([])
  })

  it('are taken in the form that CloudFront reads, whichever PEM form they have', () => {
    const older = write('older.pem', publicKey.export({ type: 'pkcs1', format: 'pem' }).toString())
    expect(readPublicKeys(own)).toEqual([PEM])
    expect(readPublicKeys(older)).toEqual([PEM])
  })

  it('are several during a rotation, in the order of the list', () => {
    const next = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
    const file = write('next.pem', next.export({ type: 'spki', format: 'pem' }).toString())
    const [first, second, ...others] = readPublicKeys(`${file}, ${own}`)
    expect(createPublicKey(first ?? '').equals(next)).toBe(true)
    expect(second).toBe(PEM)
    expect(others).toEqual([])
  })

  it('are refused as a private key, without a word of it', () => {
    const refusal = refusalOf(write('private.pem', PRIVATE_PEM))
    expect(refusal).toMatch(/^StageSettingsError: the setting cdnPublicKey .* holds a private key: .*-pubout$/)
    for (const line of PRIVATE_PEM.split('\n').filter((each) => each !== '' && !each.startsWith('-'))) {
      expect(refusal).not.toContain(line)
    }
  })

  it('are refused as a key on the command line, without a word of it', () => {
    expect(refusalOf(PRIVATE_PEM)).toBe(
      'StageSettingsError: the setting cdnPublicKey must be the path of a PEM file, not a key itself',
    )
  })

  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
  it.each([
    ['a file that is not there', () => join(folder, 'none.pem'), 'which cannot be read'],
    ['a file without PEM', () => write('text', 'hello'), 'must be a file with one PEM block BEGIN PUBLIC KEY'],
    ['PEM of nothing', () => write('empty.pem', PEM.replace(/\n.*\n/, '\n')), 'must be a public key in PEM'],
    ['a certificate', () => write('x.pem', PEM.replaceAll('PUBLIC KEY', 'CERTIFICATE')), 'BEGIN PUBLIC KEY'],
    ['two keys in a file', () => write('two.pem', PEM + PEM), 'takes one key per file'],
    [
      'a short key',
      () => write('small.pem', small.export({ type: 'spki', format: 'pem' }).toString()),
      'RSA key of 2048 bits',
    ],
    [
      'another kind of key',
      () => write('curve.pem', curve.export({ type: 'spki', format: 'pem' }).toString()),
      'RSA key of 2048 bits',
    ],
    ['a key twice', () => `${own},${own}`, 'names the same key twice'],
    ['more keys than a key group takes', () => Array(6).fill(own).join(','), 'CloudFront takes at most 5 keys'],
    ['nothing between commas', () => `${own},`, 'has an empty name between commas'],
  ] as const)('are refused as %s', (_case, files, reason) => {
    const refusal = refusalOf(files())
    expect(refusal).toMatch(/^StageSettingsError: the setting cdnPublicKey /)
    expect(refusal).toContain(reason)
  })
})
