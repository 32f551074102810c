import * as z from 'zod'
import { CONFIGURATION_FILE } from './configuration-file.ts'
import { flag, matching, onOrOff, wholeNumber } from './setting-shapes.ts'

/** CloudFormation allows 128 characters in a stack's name; functions and log groups carry it too. */
const STAGE_CHARACTERS_MAX = 32
/** A label has at most 63 characters (RFC 1035); a name with a certificate has two labels or more. */
const HOST_NAME = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/
const CERTIFICATE_ARN = /^arn:aws(-[a-z-]+)?:acm:[a-z0-9-]+:\d{12}:certificate\/[A-Za-z0-9-]+$/
/** A web ACL of scope CLOUDFRONT; all of them are in us-east-1. */
const CDN_WEB_ACL_ARN = /^arn:aws(-[a-z-]+)?:wafv2:us-east-1:\d{12}:global\/webacl\/[\w-]{1,128}\/[\w-]{1,36}$/
/** Ids of versions of a secret, as Secrets Manager accepts them. */
const DISTRIBUTION_ID = /^E[A-Z0-9]{5,20}$/
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
/** Reconcile runs once a minute and once for each broken execution. More instances would find nothing to do. */
const RECONCILE_CONCURRENCY_MAX = 10
/** Levels of the functions' logger at which failures are still logged. */
const LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const
/** Retention periods that CloudWatch Logs accepts, from a day to ten years. */
const RETENTION_DAYS: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
]

/** What a web ACL of the API adds to the bill at the list prices of us-east-1; test/bench/capacity/cost-report.test.ts compares it. */
export const WEB_ACL_PRICE = '$10 a month and $0.60 per million requests'

/** Purposes of a stage. The profile decides the defaults of the other settings. */
export const PROFILES = ['dev', 'prod'] as const

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
  responseStreaming: flag
    .optional()
    .describe(
      '`false` sends relayed responses in one piece, up to 6 MB and 29 s; slower ones are billed, but end as a 504',
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
  frontDoorLog: flag
    .optional()
    .describe('[logs each request](#the-log-of-the-front-door) of the front door, without its query and headers'),
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
    .describe('requests per second of all clients together; more get a 429. The default quota of a region is 10,000'),
  throttleBurst: wholeNumber(1, THROTTLE_MAX, 'requests')
    .optional()
    .describe('requests at once of all clients together. The default quota of a region is 5,000'),
  waf: onOrOff
    .default('off')
    .describe(`\`on\` puts a [web ACL](#the-web-acl) in front of the API, for ${WEB_ACL_PRICE}`),
  wafRatePerFiveMinutes: wholeNumber(WAF_RATE.min, WAF_RATE.max, 'requests')
    .optional()
    .describe('requests per address in five minutes; more get a 429. Needs `waf=on`'),
  logLevel: z
    .enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` })
    .optional()
    .describe(`log level of the functions: ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}`),
  logRetentionDays: wholeNumber(1, Math.max(...RETENTION_DAYS), 'days')
    .refine((days) => RETENTION_DAYS.includes(days), `must be one of ${RETENTION_DAYS.join(', ')} (days)`)
    .optional()
    .describe('a retention period of CloudWatch Logs, from 1 to 3653'),
  alarms: flag.optional().describe('creates the [alarms](runbook.md) and their topic'),
  alarmEmail: matching(EMAIL, 'must be one e-mail address, such as oncall@example.com')
    .optional()
    .describe('an address that AWS subscribes to the topic, after asking it to confirm; turns `alarms` on'),
  apiReservedConcurrency: wholeNumber(1, CONCURRENCY_MAX, 'instances of each function')
    .optional()
    .describe('concurrent instances reserved for each function of the API'),
  pipelineReservedConcurrency: wholeNumber(0, CONCURRENCY_MAX, 'instances of each function')
    .optional()
    .describe('the same for each step of a video job, which is the most that run at once too; 0 reserves none'),
  reconcileReservedConcurrency: wholeNumber(0, RECONCILE_CONCURRENCY_MAX, 'instances')
    .optional()
    .describe(
      'the same for Reconcile, up to 10; keeps it running when chats use up the concurrency of the account; 0 reserves none',
    ),
  apiProvisionedConcurrency: wholeNumber(0, CONCURRENCY_MAX, 'instances of each function')
    .default(0)
    .describe('warm instances of each function that serves tenants, at most `apiReservedConcurrency`'),
})

/** The given settings, with the defaults that do not depend on the profile. */
export type ContextValues = z.infer<typeof contextSchema>
/** Name of a context setting. */
export type ContextKey = keyof ContextValues
