import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { SIGNING_KEY_BITS, SIGNING_KEYS_MAX } from '#core/cdn-signing-keys.ts'
import { type ContextValues, readContext, StageSettingsError } from './context-settings.ts'
import { catalogueWarnings, type LoadedConfig, loadGatewayConfig } from './load-gateway-config.ts'

/** A custom domain name and its ACM certificate. */
export type CustomDomain = {
  readonly domainName: string
  /** In us-east-1 for the CDN, in the region of the stack for the API. */
  readonly certificateArn: string
}

/** The distribution as the front door of console, admin API and API. */
export type FrontDoorSettings = {
  /** Whether the API's own address refuses requests. */
  readonly isApiClosed: boolean
  /** A web ACL of scope CLOUDFRONT; undefined for none. */
  readonly webAclArn: string | undefined
  /** The distribution, for its alarm in us-east-1; undefined for no alarm there. */
  readonly distributionId: string | undefined
  /** Version of the front door's secret that is deployed; undefined for the current one. */
  readonly secretVersion: string | undefined
}

/** Settings that are used as they are given. */
type TakenSettings = Pick<
  ContextValues,
  'stage' | 'profile' | 'emulator' | 'table' | 'relay' | 'logRetentionDays' | 'alarmEmail'
>

/** All settings of a deployment, with their defaults. */
export type StageSettings = TakenSettings & {
  /** Path of the gateway's configuration file. */
  readonly configFile: string
  /** Whether CloudFront serves videos and the front door; else video urls are presigned S3 urls. */
  readonly hasCdn: boolean
  /** Whether table, bucket, channel secret and logs outlive the stack. */
  readonly retainsData: boolean
  /** Whether the stack and its table are protected against deletion; not possible in the first deployment. */
  readonly isProtected: boolean
  readonly apiDomain: CustomDomain | undefined
  readonly videoDomain: CustomDomain | undefined
  /** Undefined without the console, and without a distribution: with `cdn=off` and on emulators. */
  readonly frontDoor: FrontDoorSettings | undefined
  /** Whether requests of the front door are logged. */
  readonly frontDoorLog: boolean
  /** The operator's own public keys, SPKI in PEM; if empty, the stack creates a key pair. */
  readonly cdnPublicKeyPems: readonly string[]
  /** A limit of the whole API, not of a client. */
  readonly throttle: { readonly requestsPerSecond: number; readonly burst: number }
  /** Undefined for no web ACL. */
  readonly waf: { readonly requestsPerAddressInFiveMinutes: number } | undefined
  /** Whether the stack has alarms and a topic for them. */
  readonly alarms: boolean
  readonly concurrency: {
    /** Instances reserved for each task of the state machine; undefined to share those of the account. */
    readonly pipelineReserved: number | undefined
    /** The same for Reconcile. */
    readonly reconcileReserved: number | undefined
  }
}

/** Instances. Reconcile runs once a minute and once for each broken execution: more would find nothing to do. */
export const RECONCILE_RESERVED = 2

/** The burst of a throttle that is low: the pages of one console and a few clients. */
const BURST_MIN = 200

/**
 * Reads the settings of a deployment from CDK's context (`-c key=value`, cdk.json).
 * @param region of the stack, if known: the certificate of the API must be in it.
 * @throws StageSettingsError for the first invalid setting.
 */
export function readStageSettings(context: (name: string) => unknown, region?: string): StageSettings {
  const values = readContext(context, region)
  const { stage, profile, emulator, table, relay, logRetentionDays, alarmEmail } = values
  const pipelineReserved = values.pipelineReservedConcurrency || undefined
  const hasCdn = values.cdn === 'on' && !emulator
  return {
    ...{ stage, profile, emulator, table, relay, logRetentionDays, alarmEmail },
    configFile: values.config,
    hasCdn,
    retainsData: values.retainData,
    isProtected: values.deletionProtection,
    apiDomain: domainOf(values.apiDomain, values.apiCertificateArn),
    videoDomain: domainOf(values.videoDomain, values.videoCertificateArn),
    frontDoor: hasCdn && values.console === 'on' ? frontDoorOf(values) : undefined,
    frontDoorLog: profile === 'prod',
    cdnPublicKeyPems: readPublicKeys(values.cdnPublicKey),
    throttle: throttleOf(values.throttleRate),
    waf: values.waf === 'on' ? { requestsPerAddressInFiveMinutes: values.wafRatePerFiveMinutes } : undefined,
    alarms: profile === 'prod' || alarmEmail !== undefined,
    concurrency: {
      pipelineReserved,
      reconcileReserved: pipelineReserved === undefined ? undefined : RECONCILE_RESERVED,
    },
  }
}

function domainOf(domainName: string | undefined, certificateArn: string | undefined): CustomDomain | undefined {
  return domainName === undefined || certificateArn === undefined ? undefined : { domainName, certificateArn }
}

/** API Gateway's own quotas have this ratio: 10,000 requests a second, and bursts of 5,000. */
function throttleOf(requestsPerSecond: number): StageSettings['throttle'] {
  return { requestsPerSecond, burst: Math.max(BURST_MIN, Math.ceil(requestsPerSecond / 2)) }
}

function frontDoorOf(values: ContextValues): FrontDoorSettings {
  return {
    isApiClosed: values.apiClosed,
    webAclArn: values.frontDoorWebAclArn,
    distributionId: values.frontDoorDistributionId,
    secretVersion: values.frontDoorSecretVersion,
  }
}

/**
 * Reads the public keys from a comma-separated list of PEM files, each as SPKI in PEM. Errors quote nothing of a file, because
 * it may hold a private key by mistake.
 * @throws StageSettingsError
 */
function readPublicKeys(files: string | undefined): readonly string[] {
  if (files === undefined) {
    return []
  }
  const names = files.split(',').map((name) => name.trim())
  if (names.length > SIGNING_KEYS_MAX) {
    throw keyRefusal(`names ${names.length} files; CloudFront takes at most ${SIGNING_KEYS_MAX} keys`)
  }
  if (names.includes('')) {
    throw keyRefusal('has an empty name between commas or at an end')
  }
  const keys = names.map(readPublicKey)
  if (new Set(keys).size < keys.length) {
    throw keyRefusal('names the same key twice')
  }
  return keys
}

function readPublicKey(file: string): string {
  if (file.includes('-----BEGIN')) {
    throw keyRefusal('must be the path of a PEM file, not a key itself')
  }
  const key = readPemKey(file)
  if (key.asymmetricKeyType !== 'rsa' || key.asymmetricKeyDetails?.modulusLength !== SIGNING_KEY_BITS) {
    throw keyRefusal(`must be an RSA key of ${SIGNING_KEY_BITS} bits; ${file} holds another kind or size`)
  }
  return key.export({ type: 'spki', format: 'pem' }).toString()
}

function readPemKey(file: string): KeyObject {
  const text = readPemFile(file)
  // createPublicKey would accept a private key and take its public half.
  if (text.includes('PRIVATE KEY')) {
    throw keyRefusal(
      `needs a public key, but ${file} holds a private key: extract the public key with openssl rsa -pubout`,
    )
  }
  if (!/^\s*-----BEGIN (RSA )?PUBLIC KEY-----/.test(text)) {
    throw keyRefusal(`must be a file with one PEM block BEGIN PUBLIC KEY; ${file} has no such block`)
  }
  if (text.split('-----BEGIN').length > 2) {
    throw keyRefusal(
      `takes one key per file; ${file} holds several: write one file per key and separate them by commas`,
    )
  }
  try {
    return createPublicKey(text)
  } catch {
    // The message of the library is left out, because it may quote the file.
    throw keyRefusal(`must be a public key in PEM; ${file} cannot be read as one`)
  }
}

function readPemFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StageSettingsError(`the setting cdnPublicKey names ${file}, which cannot be read`, {
      cause: error,
    })
  }
}

function keyRefusal(text: string): StageSettingsError {
  return new StageSettingsError(`the setting cdnPublicKey ${text}`)
}

/** Partitions without CloudFront, and the beginnings of the names of their regions. */
const PARTITIONS_WITHOUT_CDN = [
  { name: /^cn-/, partition: 'aws-cn (China)' },
  { name: /^us-gov-/, partition: 'aws-us-gov (GovCloud)' },
  { name: /^(us-iso[a-z]*|eu-iso[a-z]*)-/, partition: 'aws-iso' },
] as const

type RegionOptions = {
  /** Region of the stack, if known. */
  readonly region: string | undefined
  /** On an emulator of AWS, a stack has no CDN and any region will do. */
  readonly emulator: boolean
}

/**
 * Refuses regions whose partition has no CloudFront with key groups, which serves the videos. CloudFormation would fail only
 * after it had created half of the stack.
 * @throws StageSettingsError
 */
export function refuseUnsupportedRegion({ region, emulator }: RegionOptions): void {
  const found = PARTITIONS_WITHOUT_CDN.find(({ name }) => region !== undefined && name.test(region))
  if (found !== undefined && !emulator) {
    throw new StageSettingsError(
      `the region ${region} is in the partition ${found.partition}, which has no CloudFront with key groups for signed video urls: deploy to a region of the partition aws, such as eu-central-1`,
    )
  }
}

/**
 * The warning for a stage that retains its data and is not protected; undefined for any other stage. A stack is created
 * without protection, because CloudFormation cannot roll back protected resources if the creation fails.
 */
export function unprotectedSentence({
  stage,
  retainsData,
  isProtected,
}: Pick<StageSettings, 'stage' | 'retainsData' | 'isProtected'>): string | undefined {
  return retainsData && !isProtected
    ? `the stage ${stage} is not protected against deletion, so that a failed first deployment can be repeated: set deletionProtection to true from the next deployment on`
    : undefined
}

type Stage = Pick<StageSettings, 'stage' | 'profile' | 'configFile'>

/**
 * Requires a channel for a stage with the profile `prod`.
 * @throws StageSettingsError
 */
export function requireChannels(
  { stage, profile, configFile }: Stage,
  { config, leftOut }: Pick<LoadedConfig, 'config' | 'leftOut'>,
): void {
  if (profile === 'prod' && config.channels.length === 0) {
    const missing = leftOut.length === 0 ? 'write one into' : `set the base urls of ${leftOut.join(', ')} of`
    throw new StageSettingsError(`the stage ${stage} has no channel: ${missing} ${configFile}`)
  }
}

/**
 * The warning for a stage with the profile `prod` that leaves channels out, because an unset variable is enough to remove a
 * channel from a stage; undefined if nothing is left out.
 */
export function leftOutSentence(
  { stage, profile }: Stage,
  { config, leftOut }: { readonly config: GatewayConfig; readonly leftOut: readonly string[] },
): string | undefined {
  if (profile !== 'prod' || leftOut.length === 0) {
    return undefined
  }
  const deployed = config.channels.map(({ id }) => id).join(', ')
  return `The stage ${stage} gets the channels ${deployed}, but not ${leftOut.join(', ')}, because their base urls are not set. If the deployed stage has one of these, it loses it.`
}

type StageOptions = {
  /** Region of the stack, if known. */
  readonly region: string | undefined
  /** False for commands such as `cdk destroy`, which work without the environment of a deployment. */
  readonly isToBeDeployed: boolean
}

/**
 * Reads what a stack is made of: the settings of the stage, its configuration, and remarks for the operator.
 * @throws StageSettingsError for the first invalid setting, GatewayConfigError for an invalid configuration.
 */
export function readStage(context: (name: string) => unknown, { region, isToBeDeployed }: StageOptions) {
  const settings = readStageSettings(context, region)
  if (isToBeDeployed) {
    refuseUnsupportedRegion({ region, emulator: settings.emulator })
  }
  const loaded = loadGatewayConfig({ file: settings.configFile, environment: process.env, mode: 'synth' })
  if (isToBeDeployed) {
    requireChannels(settings, loaded)
  }
  const remarks = [leftOutSentence(settings, loaded), unprotectedSentence(settings)]
  const warnings = [...loaded.warnings, ...catalogueWarnings(loaded.config)]
  return { settings, ...loaded, warnings, remarks: remarks.filter((each) => each !== undefined) }
}
