import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { nearestName, UsageError } from '../cli/terminal.ts'
import { CONFIGURATION_FILE } from './load-gateway-config.ts'
import { CLOUDFRONT_REGION } from './platform-facts.ts'

/** A setting of the deployment is invalid or contradicts another; the message names it and says what to write. */
export class StageSettingsError extends Error {
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
/** A sanity bound. The quota of the account is unknown at synth. */
const CONCURRENCY_MAX = 100_000
/** Retention periods that CloudWatch Logs accepts, from a day to ten years. */
const RETENTION_DAYS: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
]

/** What a web ACL of the API adds to the bill at the list prices of us-east-1; test/bench/capacity.test.ts compares it. */
export const WEB_ACL_PRICE = '$10 a month and $0.60 per million requests'

/** Purposes of a stage. The profile decides the defaults of the other settings. */
export const PROFILES = ['dev', 'prod'] as const

/** A setting that is true or false. */
const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], {
  error: 'must be true or false',
})

/** A setting that is on or off; true and false mean the same. */
const onOrOff = z.union([z.enum(['on', 'off']), flag.transform((isOn): 'on' | 'off' => (isOn ? 'on' : 'off'))], {
  error: 'must be on or off',
})

/** A string of one form. @param error completes the sentence "the context setting KEY ...". */
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

/**
 * Every context setting of a deployment. A refusal completes the sentence "the context setting KEY ...". The descriptions are
 * Markdown for the table in docs/deploy.md.
 */
export const contextSchema = z.object({
  stage: matching(
    new RegExp(`^[a-z][a-z0-9-]{0,${STAGE_CHARACTERS_MAX - 1}}$`),
    `must be dev, prod or a name of up to ${STAGE_CHARACTERS_MAX} of a-z, 0-9 and -, beginning with a letter`,
  )
    .default('dev')
    .describe('`dev`, `prod` or a name of your own; the stack is `Reelgate-<stage>`'),
  profile: z
    .enum(PROFILES, { error: 'must be dev or prod' })
    .optional()
    .describe('selects the column of defaults; required for a stage with a name of your own'),
  config: z
    .string({ error: 'must be the path of a file' })
    .min(1, 'must be the path of a file')
    .default(CONFIGURATION_FILE)
    .describe(
      'the [configuration file](configuration.md#the-configuration-file); `config/gateway.local.yaml` if it exists',
    ),
  emulator: flag
    .default(false)
    .describe(
      'deploys to an [emulator of AWS](testing.md#an-emulator-of-aws), without CDN and streaming; refused in prod',
    ),
  retainData: flag.optional().describe('keeps table, bucket, channel secret and logs when the stack is deleted'),
  deletionProtection: flag
    .default(false)
    .describe(
      'protects the stack and its table against deletion, from the [second deployment](#after-the-first-deployment) on; needs `retainData`',
    ),
  table: matching(TABLE_NAME, 'must be the name of a table in the account and region of the stack')
    .optional()
    .describe(
      'an existing table, such as a [restored](#backup-and-restore) one, instead of a new one; needs `retainData`',
    ),
  apiDomain: hostName
    .optional()
    .describe('your own name for the API; needs `apiCertificateArn` and turns the default endpoint off'),
  apiCertificateArn: certificateArn.optional().describe("certificate of `apiDomain`, in the stack's region"),
  videoDomain: hostName
    .optional()
    .describe('your own name for the [front door](#the-front-door) and video urls; needs `videoCertificateArn`'),
  videoCertificateArn: certificateArn.optional().describe('certificate of `videoDomain`, in us-east-1'),
  cdn: onOrOff
    .default('on')
    .describe(
      '`off` deploys [without CloudFront](#without-cloudfront): video urls are presigned by S3, and there is no console; always off with `emulator`',
    ),
  console: onOrOff
    .optional()
    .describe(
      '`off` leaves out the console, its API and the [front door](#the-front-door); always off with `emulator` and `cdn=off`',
    ),
  apiClosed: flag
    .default(false)
    .describe("refuses requests to the API's own address, so that clients must use the front door; needs `waf=on`"),
  frontDoorWebAclArn: matching(
    CDN_WEB_ACL_ARN,
    'must be the ARN of a web ACL for CloudFront: arn:aws:wafv2:us-east-1:<account>:global/webacl/<name>/<id>',
  )
    .optional()
    .describe('a [web ACL in us-east-1](#the-web-acl-of-the-front-door) for the front door'),
  frontDoorDistributionId: matching(
    DISTRIBUTION_ID,
    'must be the output FrontDoorDistributionId, such as E2QWRUHAPOMQZL',
  )
    .optional()
    .describe(
      'gives the [stack in us-east-1](#the-web-acl-of-the-front-door) the log of the front door and the alarm `FrontDoorErrors`',
    ),
  frontDoorSecretVersion: matching(SECRET_VERSION, 'must be the version id that front-door rotate has printed')
    .optional()
    .describe("version of the front door's secret, set by a [rotation](operate.md#the-secret-of-the-front-door)"),
  relay: z
    .enum(['functions', 'web'], { error: 'must be functions or web' })
    .optional()
    .describe(
      '`web` sends relayed requests of the front door to a [Lambda Web Function](#relay-by-a-web-function); needs `console`, and with `waf=on` also `frontDoorWebAclArn`',
    ),
  cdnPublicKey: z
    .string({ error: 'must be the path of a PEM file, or several with commas between' })
    .min(1, 'must be the path of a PEM file, or several with commas between')
    .optional()
    .describe(
      'your own public keys for video urls: up to five PEM files (RSA, 2048 bits), separated by commas; [import](operate.md#keys-of-video-urls) the private keys',
    ),
  throttleRate: wholeNumber(1, THROTTLE_MAX, 'requests per second')
    .optional()
    .describe(
      'requests per second of all clients together, and half as many at once (200 or more); more get a 429. The default quotas of a region are 10,000 and 5,000',
    ),
  waf: onOrOff
    .default('off')
    .describe(`\`on\` puts a [web ACL](#the-web-acl) in front of the API, for ${WEB_ACL_PRICE}`),
  wafRatePerFiveMinutes: wholeNumber(WAF_RATE.min, WAF_RATE.max, 'requests')
    .optional()
    .describe('requests per address in five minutes; more get a 429. Needs `waf=on`'),
  logRetentionDays: wholeNumber(1, Math.max(...RETENTION_DAYS), 'days')
    .refine((days) => RETENTION_DAYS.includes(days), `must be one of ${RETENTION_DAYS.join(', ')} (days)`)
    .optional()
    .describe('a retention period of CloudWatch Logs, from 1 to 3653'),
  alarmEmail: matching(EMAIL, 'must be one e-mail address, such as oncall@example.com')
    .optional()
    .describe(
      'an address that AWS subscribes to the topic of the [alarms](runbook.md), after asking it to confirm; `prod` has alarms without it too',
    ),
  pipelineReservedConcurrency: wholeNumber(0, CONCURRENCY_MAX, 'instances of each function')
    .optional()
    .describe(
      'concurrent instances reserved for each step of a video job, which is the most that run at once too; Reconcile then reserves 2. 0 reserves none',
    ),
})

/** The given settings, with the defaults that do not depend on the profile. */
export type ContextValues = z.infer<typeof contextSchema>
/** Name of a context setting. */
export type ContextKey = keyof ContextValues

/** Settings of the front door, which a stage without the console lacks. */
const OF_THE_FRONT_DOOR = [
  'apiClosed',
  'frontDoorWebAclArn',
  'frontDoorDistributionId',
  'frontDoorSecretVersion',
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

/** Settings for features that emulators of AWS lack or cannot verify. */
const NOT_ON_EMULATORS = [
  ...OF_THE_CDN,
  'waf',
  'wafRatePerFiveMinutes',
  'alarmEmail',
  'apiDomain',
  'apiCertificateArn',
] as const satisfies readonly ContextKey[]

const ASKING_FOR_NOTHING: readonly unknown[] = ['off', 'functions']

const PAIRS = [
  ['apiDomain', 'apiCertificateArn'],
  ['videoDomain', 'videoCertificateArn'],
] as const

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
  if (values.waf === 'off' && values.wafRatePerFiveMinutes !== undefined) {
    throw new StageSettingsError('the context setting wafRatePerFiveMinutes needs waf=on')
  }
  if (values.relay === 'web') {
    refuseWebRelay(values)
  }
  if (values.retainData ?? values.profile === 'prod') {
    return
  }
  if (values.table !== undefined) {
    throw new StageSettingsError(
      'the context setting table needs retainData=true, also in the previous deployment, or the current table of the stack is deleted',
    )
  }
  if (values.deletionProtection) {
    throw new StageSettingsError(
      'the context setting deletionProtection needs retainData=true: a stage that deletes its data cannot be protected',
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
  if (cdn !== undefined && cdn !== CLOUDFRONT_REGION) {
    throw new StageSettingsError(
      `the context setting videoCertificateArn must be a certificate of ${CLOUDFRONT_REGION}, the region that CloudFront uses, not of ${cdn}`,
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

/** CDK's own keys contain a colon, a slash or a hyphen: feature flags, cached lookups, `cli-telemetry`. */
const PLAIN_WORD = /^[A-Za-z0-9]+$/

/**
 * Refuses unknown context keys that cannot be CDK's: plain words, and known keys spelt with hyphens or underscores.
 * @throws StageSettingsError for the first one.
 */
export function refuseUnknownContext(keys: readonly string[]): void {
  const known = Object.keys(contextSchema.shape)
  for (const key of keys.filter((each) => !known.includes(each))) {
    const word = key.replaceAll(/[-_]/g, '')
    const meant = nearestName(word, known)
    if (PLAIN_WORD.test(key) || meant?.toLowerCase() === word.toLowerCase()) {
      throw new StageSettingsError(
        `there is no context setting ${key}${meant === undefined ? ', see docs/deploy.md for all' : `; did you mean ${meant}?`}`,
      )
    }
  }
}

/**
 * Reads context settings in the form of `cdk`: `-c retainData=true`, once per setting.
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
  return Object.fromEntries(Object.entries(context).filter(([key]) => Object.hasOwn(contextSchema.shape, key)))
}
