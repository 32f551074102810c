import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { nearestName } from '#core/nearest-name.ts'
import { UsageError } from '../cli/terminal.ts'
import { CONFIGURATION_FILE } from './load-gateway-config.ts'
import { OperatorError } from './operator-error.ts'
import { CLOUDFRONT_REGION } from './platform-facts.ts'

/** A setting of the deployment is invalid or contradicts another; the message names it and says what to write. */
export class StageSettingsError extends OperatorError {
  override readonly name = 'StageSettingsError'
}

/** CloudFormation allows 128 characters in a stack's name; functions and log groups carry it too. */
const STAGE_CHARACTERS_MAX = 32
/** A label has at most 63 characters (RFC 1035); a name with a certificate has two labels or more. */
const HOST_NAME = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/
const CERTIFICATE_ARN = /^arn:aws(-[a-z-]+)?:acm:[a-z0-9-]+:\d{12}:certificate\/[A-Za-z0-9-]+$/
/** A web ACL of scope CLOUDFRONT; all of them are in us-east-1. */
const CDN_WEB_ACL_ARN = /^arn:aws(-[a-z-]+)?:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]{1,128}\/[\w-]{1,36}$/
const DISTRIBUTION_ID = /^E[A-Z0-9]{5,20}$/
/** Ids of versions of a secret, as Secrets Manager accepts them. */
const SECRET_VERSION = /^[A-Za-z0-9-]{32,64}$/
/** Table names that DynamoDB accepts. */
const TABLE_NAME = /^[A-Za-z0-9_.-]{3,255}$/
/** Catches typing errors; SNS verifies the address by a confirmation. */
const EMAIL = /^[^\s@,;:<>"]+@[^\s@,;:<>"]+\.[^\s@,;:<>".]+$/
/** Limits that AWS WAF accepts for a rate-based rule. */
const WAF_RATE = { min: 10, max: 2_000_000_000 }
/** A region's default quota is 10,000 requests a second and bursts of 5,000; both can be raised. */
const THROTTLE_MAX = 1_000_000
/** Keeps chats from holding up video jobs (docs/decisions/0111): more than twice what 1,000 open jobs need (docs/scaling.md). */
export const RESERVED_IN_PROD = 20
/** A sanity bound. The quota of the account is unknown at synth. */
const CONCURRENCY_MAX = 100_000
/** Retention periods that CloudWatch Logs accepts, from a day to ten years. */
const RETENTION_DAYS: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
]

/** What a web ACL of the API adds to the bill at the list prices of us-east-1; test/bench/capacity.test.ts compares it. */
export const WEB_ACL_PRICE = '$10 a month and $0.60 per million requests'

/** A setting that is true or false. */
const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], {
  error: 'must be true or false',
})

/** A setting that is on or off; true and false mean the same. */
const onOrOff = z.union([z.enum(['on', 'off']), flag.transform((isOn): 'on' | 'off' => (isOn ? 'on' : 'off'))], {
  error: 'must be on or off',
})

/** A string of one form. @param error completes the sentence "the setting KEY ...". */
function matching(pattern: RegExp, error: string) {
  return z.string({ error }).regex(pattern, error)
}

/** An integer, as `-c key=value` gives it too. Bounds are inclusive. */
function wholeNumber(min: number, max: number, unit: string) {
  const error = `must be an integer from ${min.toLocaleString('en')} to ${max.toLocaleString('en')} (${unit})`
  return z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^\d{1,12}$/)
          .transform(Number),
      ],
      { error },
    )
    .pipe(z.int({ error }).min(min, error).max(max, error))
}

const hostName = matching(HOST_NAME, 'must be a host name in lower case, such as video.example.com, without https://')
const certificateArn = matching(
  CERTIFICATE_ARN,
  'must be the ARN of a certificate: arn:aws:acm:<region>:<account>:certificate/<id>',
)

/** Purposes of a stage: `dev` is disposable, `prod` keeps its data and has alarms. The profile decides defaults of other settings. */
export const PROFILES = ['dev', 'prod'] as const

type StageProfile = (typeof PROFILES)[number]

/** A given value; undefined for a setting that is not given. */
type Value = string | number | boolean | undefined
type Given = Readonly<Record<string, Value>>

/** Refuses a setting that is valid on its own and contradicts another: the whole sentence, or undefined. */
type Rule = (given: Given, about: { readonly key: string; readonly region: string | undefined }) => string | undefined

/** One setting of a deployment: what it may be, what it is by default, and what it needs. */
type Setting<Type extends Value, Default> = {
  /** A refusal completes the sentence "the setting KEY ...". */
  readonly schema: z.ZodType<Type>
  readonly default?: Default
  /** The default of the profile `prod`, where it is another one. */
  readonly prod?: Default
  /** Markdown for the table in docs/deploy.md. */
  readonly meaning: string
  /** For a setting that asks for something. The first refusal counts. */
  readonly rules?: readonly Rule[]
}

function setting<Type extends Value, const Default extends Type | undefined = undefined>(
  one: Setting<Type, Default>,
): Setting<Type, Default> {
  return one
}

/** Emulators of AWS lack the feature, or it cannot be verified there. */
const notOnEmulators: Rule = ({ emulator }, { key }) =>
  emulator ? `the setting ${key} does not work with emulator=true: leave one of them out` : undefined

const needsCdn: Rule = ({ cdn }, { key }) =>
  cdn === 'off'
    ? `the setting ${key} needs cdn=on, because CloudFront serves videos, console and front door: leave ${key} or cdn=off out`
    : undefined

const needsConsole: Rule = (given, { key }) =>
  given.console === 'off' ? `the setting ${key} needs console=on, because the front door belongs to it` : undefined

const needsDevProfile: Rule = ({ profile }, { key }) =>
  profile === 'prod' ? `the setting ${key}=true needs the profile dev` : undefined

/** @param why continues the sentence. */
function needsWaf(why = ''): Rule {
  return ({ waf }, { key }) => (waf === 'on' ? undefined : `the setting ${key} needs waf=on${why}`)
}

/** @param why continues the sentence. */
function needsRetainedData(why: string): Rule {
  return ({ retainData, profile }, { key }) =>
    (retainData ?? profile === 'prod') ? undefined : `the setting ${key} needs retainData=true${why}`
}

function needs(other: string): Rule {
  return (given, { key }) => (given[other] === undefined ? `the setting ${key} needs ${other} too` : undefined)
}

/** @param regionWanted of the certificate; undefined if it is not known. @param why describes the region. */
function certificateOf(regionWanted: (stack: string | undefined) => string | undefined, why: string): Rule {
  return (given, { key, region }) => {
    const wanted = regionWanted(region)
    const [, , , found] = String(given[key]).split(':')
    return wanted === undefined || found === wanted
      ? undefined
      : `the setting ${key} must be a certificate of ${wanted}, ${why}, not of ${found}`
  }
}

const OF_THE_CDN = [notOnEmulators, needsCdn]
const OF_THE_FRONT_DOOR = [...OF_THE_CDN, needsConsole]

/** Every setting of a deployment. */
export const SETTINGS = {
  stage: setting({
    schema: matching(
      new RegExp(`^[a-z][a-z0-9-]{0,${STAGE_CHARACTERS_MAX - 1}}$`),
      `must be dev, prod or a name of up to ${STAGE_CHARACTERS_MAX} of a-z, 0-9 and -, beginning with a letter`,
    ),
    default: 'dev',
    meaning: '`dev`, `prod` or a name of your own; the stack is `Reelgate-<stage>`',
  }),
  profile: setting({
    schema: z.enum(PROFILES, { error: 'must be dev or prod' }),
    default: 'dev',
    prod: 'prod',
    meaning: 'selects the column of defaults; required for a stage with a name of your own',
  }),
  config: setting({
    schema: z.string({ error: 'must be the path of a file' }).min(1, 'must be the path of a file'),
    default: CONFIGURATION_FILE,
    meaning:
      'the [configuration file](configuration.md#the-configuration-file); `config/gateway.local.yaml` if it exists',
  }),
  emulator: setting({
    schema: flag,
    default: false,
    meaning:
      'deploys to an [emulator of AWS](testing.md#an-emulator-of-aws), without CDN and streaming; refused in prod',
    rules: [needsDevProfile],
  }),
  retainData: setting({
    schema: flag,
    default: false,
    prod: true,
    meaning: 'keeps table, bucket, channel secret and logs when the stack is deleted',
  }),
  deletionProtection: setting({
    schema: flag,
    default: false,
    meaning:
      'protects the stack and its table against deletion, from the [second deployment](#after-the-first-deployment) on; needs `retainData`',
    rules: [needsRetainedData(': a stage that deletes its data cannot be protected')],
  }),
  table: setting({
    schema: matching(TABLE_NAME, 'must be the name of a table in the account and region of the stack'),
    meaning:
      'an existing table, such as a [restored](#backup-and-restore) one, instead of a new one; needs `retainData`',
    rules: [needsRetainedData(', also in the previous deployment, or the current table of the stack is deleted')],
  }),
  apiDomain: setting({
    schema: hostName,
    meaning: 'your own name for the API; needs `apiCertificateArn` and turns the default endpoint off',
    rules: [notOnEmulators, needs('apiCertificateArn')],
  }),
  apiCertificateArn: setting({
    schema: certificateArn,
    meaning: "certificate of `apiDomain`, in the stack's region",
    rules: [notOnEmulators, needs('apiDomain'), certificateOf((stack) => stack, 'where the API is deployed')],
  }),
  videoDomain: setting({
    schema: hostName,
    meaning: 'your own name for the [front door](#the-front-door) and video urls; needs `videoCertificateArn`',
    rules: [
      ...OF_THE_CDN,
      needs('videoCertificateArn'),
      ({ apiDomain, videoDomain }) =>
        apiDomain === videoDomain ? 'the settings apiDomain and videoDomain must be two different names' : undefined,
    ],
  }),
  videoCertificateArn: setting({
    schema: certificateArn,
    meaning: 'certificate of `videoDomain`, in us-east-1',
    rules: [
      ...OF_THE_CDN,
      needs('videoDomain'),
      certificateOf(() => CLOUDFRONT_REGION, 'the region that CloudFront uses'),
    ],
  }),
  cdn: setting({
    schema: onOrOff,
    default: 'on',
    meaning:
      '`off` deploys [without CloudFront](#without-cloudfront): video urls are presigned by S3, and there is no console; always off with `emulator`',
  }),
  console: setting({
    schema: onOrOff,
    default: 'on',
    meaning:
      '`off` leaves out the console, its API and the [front door](#the-front-door); always off with `emulator` and `cdn=off`',
    rules: OF_THE_CDN,
  }),
  apiClosed: setting({
    schema: flag,
    default: false,
    meaning: "refuses requests to the API's own address, so that clients must use the front door; needs `waf=on`",
    rules: [...OF_THE_FRONT_DOOR, needsWaf(', because the web ACL refuses the requests')],
  }),
  frontDoorWebAclArn: setting({
    schema: matching(
      CDN_WEB_ACL_ARN,
      'must be the ARN of a web ACL for CloudFront: arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>',
    ),
    meaning: 'a [web ACL in us-east-1](#the-web-acl-of-the-front-door) for the front door',
    rules: OF_THE_FRONT_DOOR,
  }),
  frontDoorDistributionId: setting({
    schema: matching(DISTRIBUTION_ID, 'must be the output FrontDoorDistributionId, such as E2QWRUHAPOMQZL'),
    meaning:
      'gives the [stack in us-east-1](#the-web-acl-of-the-front-door) the log of the front door and the alarm `FrontDoorErrors`',
    rules: OF_THE_FRONT_DOOR,
  }),
  frontDoorSecretVersion: setting({
    schema: matching(SECRET_VERSION, 'must be the version id that front-door rotate has printed'),
    meaning: "version of the front door's secret, set by a [rotation](operate.md#the-secret-of-the-front-door)",
    rules: OF_THE_FRONT_DOOR,
  }),
  relay: setting({
    schema: z.enum(['functions', 'web'], { error: 'must be functions or web' }),
    default: 'functions',
    meaning:
      '`web` sends relayed requests of the front door to a [Lambda Web Function](#relay-by-a-web-function); needs `console`, and with `waf=on` also `frontDoorWebAclArn`',
    rules: [
      ...OF_THE_CDN,
      (given) =>
        given.console === 'off'
          ? 'the setting relay=web needs console=on, because only the front door sends requests to the Web Function'
          : undefined,
      ({ waf, frontDoorWebAclArn }) =>
        waf === 'on' && frontDoorWebAclArn === undefined
          ? 'the setting relay=web needs frontDoorWebAclArn, because the web ACL of the API does not see requests to the Web Function: deploy the stack in us-east-1 first, or leave waf=on out'
          : undefined,
    ],
  }),
  cdnPublicKey: setting({
    schema: z
      .string({ error: 'must be the path of a PEM file, or several with commas between' })
      .min(1, 'must be the path of a PEM file, or several with commas between'),
    meaning:
      'your own public keys for video urls: up to five PEM files (RSA, 2048 bits), separated by commas; [import](operate.md#keys-of-video-urls) the private keys',
    rules: OF_THE_CDN,
  }),
  throttleRate: setting({
    schema: wholeNumber(1, THROTTLE_MAX, 'requests per second'),
    default: 100,
    // Half of a region's default quota.
    prod: 5000,
    meaning:
      'requests per second of all clients together, and half as many at once (200 or more); more get a 429. The default quotas of a region are 10,000 and 5,000',
  }),
  waf: setting({
    schema: onOrOff,
    default: 'off',
    meaning: `\`on\` puts a [web ACL](#the-web-acl) in front of the API, for ${WEB_ACL_PRICE}`,
    rules: [notOnEmulators],
  }),
  wafRatePerFiveMinutes: setting({
    schema: wholeNumber(WAF_RATE.min, WAF_RATE.max, 'requests'),
    // Stops floods and is no limit for one client: a backend that polls a hundred jobs every five seconds and chats besides stays below it.
    default: 10_000,
    meaning: 'requests per address in five minutes; more get a 429. Needs `waf=on`',
    rules: [notOnEmulators, needsWaf()],
  }),
  logRetentionDays: setting({
    schema: wholeNumber(1, Math.max(...RETENTION_DAYS), 'days').refine(
      (days) => RETENTION_DAYS.includes(days),
      `must be one of ${RETENTION_DAYS.join(', ')} (days)`,
    ),
    default: 7,
    // As long as the record of a job.
    prod: 30,
    meaning: 'a retention period of CloudWatch Logs, from 1 to 3653',
  }),
  alarmEmail: setting({
    schema: matching(EMAIL, 'must be one e-mail address, such as oncall@example.com'),
    meaning:
      'an address that AWS subscribes to the topic of the [alarms](runbook.md), after asking it to confirm; `prod` has alarms without it too',
    rules: [notOnEmulators],
  }),
  pipelineReservedConcurrency: setting({
    schema: wholeNumber(0, CONCURRENCY_MAX, 'instances of each function'),
    default: 0,
    prod: RESERVED_IN_PROD,
    meaning:
      'concurrent instances reserved for each step of a video job, which is the most that run at once too; Reconcile then reserves 2. 0 reserves none',
  }),
} as const

type Settings = typeof SETTINGS
type ContextKey = keyof Settings
type ValueOf<One> =
  One extends Setting<infer Type, infer Default> ? Type | (Default extends undefined ? undefined : never) : never

/** The settings of a deployment by their keys; those without a default may be undefined. */
export type ContextValues = { readonly [Key in ContextKey]: ValueOf<Settings[Key]> }

/** The default of a setting; undefined for none. */
export function defaultOf(one: Setting<Value, Value>, profile: StageProfile): Value {
  return profile === 'prod' ? (one.prod ?? one.default) : one.default
}

/** Settings of false, off, functions and 0 ask for nothing. */
function asksForSomething(value: Value): boolean {
  return Boolean(value) && value !== 'off' && value !== 'functions'
}

/**
 * Reads every setting, with the defaults of the profile that is given or implied by the stage.
 * @param region of the stack, if known.
 * @throws StageSettingsError for the first invalid value, and for the first contradiction.
 */
export function readContext(context: (name: string) => unknown, region: string | undefined): ContextValues {
  const read = Object.entries(SETTINGS).map(([key, { schema }]) => [key, readValue(key, schema, context(key))])
  const given: Record<string, Value> = Object.fromEntries(read)
  const profile = profileOf(given)
  given.profile = profile
  for (const [key, { rules = [] }] of Object.entries<Setting<Value, Value>>(SETTINGS)) {
    for (const rule of asksForSomething(given[key]) ? rules : []) {
      const refusal = rule(given, { key, region })
      if (refusal !== undefined) {
        throw new StageSettingsError(refusal)
      }
    }
  }
  const values = Object.entries<Setting<Value, Value>>(SETTINGS).map(([key, one]) => [
    key,
    given[key] ?? defaultOf(one, profile),
  ])
  // Each was read by its schema, or is a default of its type.
  return Object.fromEntries(values) as ContextValues
}

function readValue(key: string, schema: z.ZodType<Value>, value: unknown): Value {
  const parsed = schema.optional().safeParse(value ?? undefined)
  if (parsed.success) {
    return parsed.data
  }
  throw new StageSettingsError(`the setting ${key} ${parsed.error.issues[0]?.message}`)
}

/**
 * Requires a profile for any stage but `dev` and `prod`: otherwise a misspelt `prod` would be a stage that deletes its data.
 * @throws StageSettingsError
 */
function profileOf({ stage = SETTINGS.stage.default, profile }: Given): StageProfile {
  const implied = stage === 'dev' || stage === 'prod' ? stage : undefined
  if (implied !== undefined && profile !== undefined && profile !== implied) {
    throw new StageSettingsError(`the setting profile must be ${implied} for the stage ${stage}: leave it out`)
  }
  const found = implied ?? profile
  if (found !== 'dev' && found !== 'prod') {
    throw new StageSettingsError(
      `the setting profile must be dev or prod, because the stage ${stage} is neither: add -c profile=dev or -c profile=prod`,
    )
  }
  return found
}

/** CDK's own keys contain a colon, a slash or a hyphen: feature flags, cached lookups, `cli-telemetry`. */
const PLAIN_WORD = /^[A-Za-z0-9]+$/

/**
 * Refuses unknown context keys that cannot be CDK's: plain words, and known keys spelt with hyphens or underscores.
 * @throws StageSettingsError for the first one.
 */
export function refuseUnknownContext(keys: readonly string[]): void {
  const known = Object.keys(SETTINGS)
  for (const key of keys.filter((each) => !known.includes(each))) {
    const word = key.replaceAll(/[-_]/g, '')
    const meant = nearestName(word, known)
    if (PLAIN_WORD.test(key) || meant?.toLowerCase() === word.toLowerCase()) {
      throw new StageSettingsError(
        `there is no setting ${key}${meant === undefined ? ', see docs/deploy.md for all' : `; did you mean ${meant}?`}`,
      )
    }
  }
}

/**
 * Reads settings in the form of `cdk`: `-c retainData=true`, once per setting.
 * @throws UsageError for an argument that is not `key=value`, and for a repeated key.
 * @throws StageSettingsError for an unknown key.
 */
export function readContextArguments(given: readonly string[]): Readonly<Record<string, string>> {
  const settings = new Map<string, string>()
  for (const each of given) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(each) ?? []
    if (key === undefined || value === undefined) {
      throw new UsageError(`-c takes key=value, as in -c retainData=true, not ${each}`)
    }
    if (settings.has(key)) {
      throw new UsageError(`-c ${key} is given twice: give it once`)
    }
    settings.set(key, value)
  }
  refuseUnknownContext([...settings.keys()])
  return Object.fromEntries(settings)
}

const projectFile = z.object({ context: z.record(z.string(), z.unknown()).default({}) })

/** The settings of a deployment in `cdk.json`, without those of CDK itself. */
export function readProjectContext(directory = '.'): Readonly<Record<string, unknown>> {
  const file = join(directory, 'cdk.json')
  if (!existsSync(file)) {
    return {}
  }
  const { context } = projectFile.parse(JSON.parse(readFileSync(file, 'utf8')))
  return Object.fromEntries(Object.entries(context).filter(([key]) => Object.hasOwn(SETTINGS, key)))
}
