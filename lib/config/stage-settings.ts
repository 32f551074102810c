import { readPublicKeys } from './cdn-public-keys.ts'
import { refuseCombinations } from './context-combinations.ts'
import { type ContextValues, contextSchema, type PROFILES } from './context-schema.ts'
import { type FrontDoorSettings, frontDoorSettings } from './front-door-settings.ts'
import { StageSettingsError } from './stage-settings-error.ts'

/** The purpose of a stage: `dev` is disposable, `prod` keeps its data and has alarms. */
type StageProfile = (typeof PROFILES)[number]

/** A custom domain name and its ACM certificate. */
export type CustomDomain = {
  readonly domainName: string
  /** In us-east-1 for the CDN, in the region of the stack for the API. */
  readonly certificateArn: string
}

/** All settings of a deployment, with their defaults. */
export type StageSettings = {
  /** Name of the stage; the stack is `Reelgate-<stage>`. */
  readonly stage: string
  readonly profile: StageProfile
  /** Path of the gateway's configuration file. */
  readonly configFile: string
  /** For emulators of AWS: no CDN, and no streaming. */
  readonly emulator: boolean
  /** Whether CloudFront serves videos and the front door; else video urls are presigned S3 urls. */
  readonly hasCdn: boolean
  /** Whether API Gateway streams relayed responses. */
  readonly responseStreaming: boolean
  /** Whether table, bucket, channel secret and logs outlive the stack. */
  readonly retainsData: boolean
  /** Whether the stack and its table are protected against deletion; not possible in the first deployment. */
  readonly isProtected: boolean
  /** An existing table, such as a restored one, instead of a table of the stack. */
  readonly table: string | undefined
  readonly apiDomain: CustomDomain | undefined
  readonly videoDomain: CustomDomain | undefined
  /** Undefined without the console. */
  readonly frontDoor: FrontDoorSettings | undefined
  /** Whether requests of the front door are logged. */
  readonly frontDoorLog: boolean
  /** What relays the requests of the front door: functions, or a Web Function. */
  readonly relay: 'functions' | 'web'
  /** The operator's own public keys, SPKI in PEM; if empty, the stack creates a key pair. */
  readonly cdnPublicKeyPems: readonly string[]
  /** A limit of the whole API, not of a client. */
  readonly throttle: { readonly requestsPerSecond: number; readonly burst: number }
  /** Undefined for no web ACL. */
  readonly waf: { readonly requestsPerAddressInFiveMinutes: number } | undefined
  readonly logLevel: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'
  readonly logRetentionDays: number
  /** Whether the stack has alarms and a topic for them. */
  readonly alarms: boolean
  /** The address that is subscribed to that topic. */
  readonly alarmEmail: string | undefined
  readonly concurrency: {
    /** Instances reserved for each function of the API; undefined to share those of the account. */
    readonly apiReserved: number | undefined
    /** The same for each task of the state machine. */
    readonly pipelineReserved: number | undefined
    /** The same for Reconcile. */
    readonly reconcileReserved: number | undefined
    /** Warm instances of each function of the API that serves tenants. */
    readonly apiProvisioned: number
  }
}

/**
 * Defaults that depend on the profile. Logs of production are kept as long as the record of a job. Its throttle is half of a
 * region's default quota. The rate of the web ACL stops floods and is not a limit for one client: a backend that polls a
 * hundred jobs every five seconds and chats besides stays below it. The reservations (docs/decisions/0111) keep chats from holding up
 * Reconcile and video jobs: 20 of each step are more than twice what 1,000 open jobs need (docs/scaling.md).
 */
export const PROFILE_DEFAULTS = {
  dev: {
    console: 'on',
    relay: 'functions',
    responseStreaming: true,
    retainData: false,
    throttleRate: 100,
    throttleBurst: 200,
    wafRatePerFiveMinutes: 10_000,
    logLevel: 'DEBUG',
    logRetentionDays: 7,
    frontDoorLog: false,
    alarms: false,
    pipelineReservedConcurrency: 0,
    reconcileReservedConcurrency: 0,
  },
  prod: {
    console: 'on',
    relay: 'functions',
    responseStreaming: true,
    retainData: true,
    throttleRate: 5000,
    throttleBurst: 2500,
    wafRatePerFiveMinutes: 10_000,
    logLevel: 'INFO',
    logRetentionDays: 30,
    frontDoorLog: true,
    alarms: true,
    pipelineReservedConcurrency: 20,
    reconcileReservedConcurrency: 2,
  },
} as const satisfies Record<StageProfile, Partial<ContextValues>>

/**
 * Reads the settings of a deployment from CDK's context (`-c key=value`, cdk.json).
 * @param region of the stack, if known: the certificate of the API must be in it.
 * @throws StageSettingsError for the first invalid setting.
 */
export function readStageSettings(context: (name: string) => unknown, region?: string): StageSettings {
  const read = parse(context)
  const profile = profileOf(read)
  const values = { ...read, profile }
  refuseCombinations(values, region)
  const defaults = PROFILE_DEFAULTS[profile]
  return {
    stage: values.stage,
    profile,
    configFile: values.config,
    emulator: values.emulator,
    hasCdn: values.cdn === 'on' && !values.emulator,
    responseStreaming: values.responseStreaming ?? (defaults.responseStreaming && !values.emulator),
    retainsData: values.retainData ?? defaults.retainData,
    isProtected: values.deletionProtection,
    table: values.table,
    apiDomain: domainOf(values.apiDomain, values.apiCertificateArn),
    videoDomain: domainOf(values.videoDomain, values.videoCertificateArn),
    frontDoor: frontDoorSettings({ ...values, console: values.console ?? defaults.console }),
    frontDoorLog: values.frontDoorLog ?? defaults.frontDoorLog,
    relay: values.relay ?? defaults.relay,
    cdnPublicKeyPems: readPublicKeys(values.cdnPublicKey),
    throttle: {
      requestsPerSecond: values.throttleRate ?? defaults.throttleRate,
      burst: values.throttleBurst ?? defaults.throttleBurst,
    },
    waf: wafOf(values, defaults),
    logLevel: values.logLevel ?? defaults.logLevel,
    logRetentionDays: values.logRetentionDays ?? defaults.logRetentionDays,
    alarms: values.alarms ?? (defaults.alarms || values.alarmEmail !== undefined),
    alarmEmail: values.alarmEmail,
    concurrency: {
      apiReserved: values.apiReservedConcurrency,
      pipelineReserved: (values.pipelineReservedConcurrency ?? defaults.pipelineReservedConcurrency) || undefined,
      reconcileReserved: (values.reconcileReservedConcurrency ?? defaults.reconcileReservedConcurrency) || undefined,
      apiProvisioned: values.apiProvisionedConcurrency,
    },
  }
}

/** @throws StageSettingsError */
function parse(context: (name: string) => unknown): ContextValues {
  const given = Object.keys(contextSchema.shape).map((key) => [key, context(key) ?? undefined])
  const parsed = contextSchema.safeParse(Object.fromEntries(given))
  if (parsed.success) {
    return parsed.data
  }
  const [first] = parsed.error.issues
  throw new StageSettingsError(`the context setting ${first?.path.join('.')} ${first?.message}`)
}

/**
 * Requires a profile for any stage but `dev` and `prod`: otherwise a misspelt `prod` would be a stage that deletes its data.
 * @throws StageSettingsError
 */
function profileOf({ stage, profile }: ContextValues): StageProfile {
  const implied = stage === 'dev' || stage === 'prod' ? stage : undefined
  if (implied !== undefined && profile !== undefined && profile !== implied) {
    throw new StageSettingsError(`the context setting profile must be ${implied} for the stage ${stage}: leave it out`)
  }
  const found = implied ?? profile
  if (found === undefined) {
    throw new StageSettingsError(
      `the context setting profile must be dev or prod, because the stage ${stage} is neither: add -c profile=dev or -c profile=prod`,
    )
  }
  return found
}

function domainOf(domainName: string | undefined, certificateArn: string | undefined): CustomDomain | undefined {
  return domainName === undefined || certificateArn === undefined ? undefined : { domainName, certificateArn }
}

/** @throws StageSettingsError for a rate without a web ACL. */
function wafOf(values: ContextValues, defaults: (typeof PROFILE_DEFAULTS)[StageProfile]): StageSettings['waf'] {
  const { wafRatePerFiveMinutes: rate } = values
  if (values.waf === 'on') {
    return { requestsPerAddressInFiveMinutes: rate ?? defaults.wafRatePerFiveMinutes }
  }
  if (rate !== undefined) {
    throw new StageSettingsError('the context setting wafRatePerFiveMinutes needs waf=on')
  }
  return undefined
}
