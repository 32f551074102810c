import type { ContextKey, ContextValues } from './context-schema.ts'
import { StageSettingsError } from './stage-settings-error.ts'

/** The only region in which CloudFront finds certificates. */
const CDN_CERTIFICATE_REGION = 'us-east-1'

/** Settings for features that emulators of AWS lack or cannot verify. */
const NOT_ON_EMULATORS = [
  'responseStreaming',
  'waf',
  'wafRatePerFiveMinutes',
  'alarmEmail',
  'apiDomain',
  'apiCertificateArn',
  'videoDomain',
  'videoCertificateArn',
  'console',
  'apiClosed',
  'frontDoorWebAclArn',
  'frontDoorDistributionId',
  'frontDoorSecretVersion',
  'frontDoorLog',
  'relay',
  'cdnPublicKey',
  'apiProvisionedConcurrency',
] as const satisfies readonly ContextKey[]

const ASKING_FOR_NOTHING: readonly unknown[] = ['off', 'functions']

const PAIRS = [
  ['apiDomain', 'apiCertificateArn'],
  ['videoDomain', 'videoCertificateArn'],
] as const

/** Settings of the front door, which a stage without the console lacks. */
const OF_THE_FRONT_DOOR = [
  'apiClosed',
  'frontDoorWebAclArn',
  'frontDoorDistributionId',
  'frontDoorSecretVersion',
  'frontDoorLog',
] as const satisfies readonly ContextKey[]

/** Settings of what CloudFront serves, which a stage with `cdn=off` lacks. */
const OF_THE_CDN = [
  ...OF_THE_FRONT_DOOR,
  'console',
  'videoDomain',
  'videoCertificateArn',
  'relay',
  'cdnPublicKey',
] as const satisfies readonly ContextKey[]

/**
 * Refuses settings that are valid on their own and contradict each other.
 * @param values with the effective `profile`, given or implied by the stage.
 * @param region of the stack, if known.
 * @throws StageSettingsError for the first contradiction.
 */
export function refuseCombinations(values: ContextValues, region: string | undefined): void {
  refuseHalves(values)
  refuseForeignCertificates(values, region)
  if (values.apiDomain !== undefined && values.apiDomain === values.videoDomain) {
    throw new StageSettingsError('the context settings apiDomain and videoDomain must be two different names')
  }
  if (values.emulator) {
    refuseWhatEmulatorsLack(values)
  }
  if (values.cdn === 'off') {
    refuseWithoutCdn(values)
  }
  refuseWithoutFrontDoor(values)
  if (values.relay === 'web') {
    refuseWebRelay(values)
  }
  if (values.table !== undefined && !(values.retainData ?? values.profile === 'prod')) {
    throw new StageSettingsError(
      'the context setting table needs retainData=true, also in the previous deployment, or the current table of the stack is deleted',
    )
  }
  if (values.deletionProtection && !(values.retainData ?? values.profile === 'prod')) {
    throw new StageSettingsError(
      'the context setting deletionProtection needs retainData=true: a stage that deletes its data cannot be protected',
    )
  }
  if (values.alarms === false && values.alarmEmail !== undefined) {
    throw new StageSettingsError('the context setting alarmEmail needs alarms: leave alarms=false out')
  }
  const { apiProvisionedConcurrency: provisioned, apiReservedConcurrency: reserved } = values
  if (reserved !== undefined && provisioned > reserved) {
    throw new StageSettingsError(
      `the context setting apiProvisionedConcurrency must be at most apiReservedConcurrency (${reserved})`,
    )
  }
}

function refuseHalves(values: ContextValues): void {
  for (const pair of PAIRS) {
    const [missing] = pair.filter((key) => values[key] === undefined)
    const [given] = pair.filter((key) => values[key] !== undefined)
    if (missing !== undefined && given !== undefined) {
      throw new StageSettingsError(`the context setting ${given} needs ${missing} too`)
    }
  }
}

function refuseForeignCertificates(values: ContextValues, region: string | undefined): void {
  const cdn = regionOf(values.videoCertificateArn)
  if (cdn !== undefined && cdn !== CDN_CERTIFICATE_REGION) {
    throw new StageSettingsError(
      `the context setting videoCertificateArn must be a certificate of ${CDN_CERTIFICATE_REGION}, the region that CloudFront uses, not of ${cdn}`,
    )
  }
  const api = regionOf(values.apiCertificateArn)
  if (api !== undefined && region !== undefined && api !== region) {
    throw new StageSettingsError(
      `the context setting apiCertificateArn must be a certificate of ${region}, where the API is deployed, not of ${api}`,
    )
  }
}

/** `arn:partition:acm:REGION:...` */
function regionOf(certificateArn: string | undefined): string | undefined {
  return certificateArn?.split(':')[3]
}

function refuseWithoutFrontDoor(values: ContextValues): void {
  const asked = OF_THE_FRONT_DOOR.find((key) => Boolean(values[key]))
  if (asked !== undefined && values.console === 'off') {
    throw new StageSettingsError(`the context setting ${asked} needs console=on, because the front door belongs to it`)
  }
  if (values.apiClosed && values.waf === 'off') {
    throw new StageSettingsError('the context setting apiClosed needs waf=on, because the web ACL refuses the requests')
  }
}

function refuseWhatEmulatorsLack(values: ContextValues): void {
  if (values.profile === 'prod') {
    throw new StageSettingsError('the context setting emulator=true needs the profile dev')
  }
  const asked = NOT_ON_EMULATORS.find((key) => asksForSomething(values[key]))
  if (asked !== undefined) {
    throw new StageSettingsError(`the context setting ${asked} does not work with emulator=true: leave one of them out`)
  }
}

function refuseWebRelay({ console, waf, frontDoorWebAclArn }: ContextValues): void {
  if (console === 'off') {
    throw new StageSettingsError(
      'the context setting relay=web needs console=on, because only the front door sends requests to the Web Function',
    )
  }
  if (waf === 'on' && frontDoorWebAclArn === undefined) {
    throw new StageSettingsError(
      'the context setting relay=web needs frontDoorWebAclArn, because the web ACL of the API does not see requests to the Web Function: deploy the stack in us-east-1 first, or leave waf=on out',
    )
  }
}

/** Settings of false, off, functions and 0 ask for nothing. */
function asksForSomething(value: unknown): boolean {
  return Boolean(value) && !ASKING_FOR_NOTHING.includes(value)
}

function refuseWithoutCdn(values: ContextValues): void {
  const asked = OF_THE_CDN.find((key) => asksForSomething(values[key]))
  if (asked !== undefined) {
    throw new StageSettingsError(
      `the context setting ${asked} needs cdn=on, because CloudFront serves videos, console and front door: leave ${asked} or cdn=off out`,
    )
  }
}
