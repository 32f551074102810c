import * as z from 'zod'
import { CONFIGURATION_FILE } from './configuration-file.ts'

/**
 * Each setting of a deployment, as it comes from `-c key=value` (text) or from cdk.json (JSON), and what one may write.
 * Each text completes the sentence "the context setting KEY ...".
 */

/** CloudFormation allows 128 characters in a stack's name; functions and log groups carry it too. */
const STAGE_CHARACTERS_MAX = 32
/** A label of a host name ends at 63 characters (RFC 1035); a name that a certificate can be for has two or more. */
const HOST_NAME = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/
const CERTIFICATE_ARN = /^arn:aws(-[a-z-]+)?:acm:[a-z0-9-]+:\d{12}:certificate\/[A-Za-z0-9-]+$/
/** What DynamoDB takes as a table's name. */
const TABLE_NAME = /^[A-Za-z0-9_.-]{3,255}$/
/** Enough to tell a slip; the address is proven by the confirmation that SNS sends to it. */
const EMAIL = /^[^\s@,;:<>"]+@[^\s@,;:<>"]+\.[^\s@,;:<>".]+$/
/** What AWS WAF takes as the limit of a rate-based rule. */
const WAF_RATE = { min: 10, max: 2_000_000_000 }
/** A region's default quota is 10,000 requests a second and bursts of 5,000; both can be raised. */
const THROTTLE_MAX = 1_000_000
/** The most that an account can be raised to without a talk with AWS; what it has now is not known at synth. */
const CONCURRENCY_MAX = 100_000
/** One run a minute, and one for each execution that ends badly; each run finds what is left to do, so more are of no use. */
const RECONCILE_CONCURRENCY_MAX = 10
/** The levels of the functions' logger that still let an operator see what fails. */
const LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const
/** The periods that CloudWatch Logs knows, from a day to ten years. */
const RETENTION_DAYS: readonly number[] = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
]

/** What a stage may be for; the profile decides the defaults of the other settings. */
export const PROFILES = ['dev', 'prod'] as const

const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], {
  error: 'must be true or false',
})

const hostName = matching(
  HOST_NAME,
  'must be a host name in small letters, such as video.example.com, without https://',
)
const certificateArn = matching(
  CERTIFICATE_ARN,
  'must be the ARN of a certificate: arn:aws:acm:<region>:<account>:certificate/<id>',
)

/** Every context setting of a deployment. A refusal completes the sentence "the context setting KEY ...". */
export const contextSchema = z.object({
  stage: matching(
    new RegExp(`^[a-z][a-z0-9-]{0,${STAGE_CHARACTERS_MAX - 1}}$`),
    `must be dev, prod or a name of up to ${STAGE_CHARACTERS_MAX} of a-z, 0-9 and -, beginning with a letter`,
  ).default('dev'),
  profile: z.enum(PROFILES, { error: 'must be dev or prod' }).optional(),
  config: z
    .string({ error: 'must be the path of a file' })
    .min(1, 'must be the path of a file')
    .default(CONFIGURATION_FILE),
  emulator: flag.default(false),
  responseStreaming: flag.optional(),
  retainData: flag.optional(),
  deletionProtection: flag.default(false),
  table: matching(TABLE_NAME, 'must be the name of a table in the account and region of the stack').optional(),
  apiDomain: hostName.optional(),
  apiCertificateArn: certificateArn.optional(),
  videoDomain: hostName.optional(),
  videoCertificateArn: certificateArn.optional(),
  cdnPublicKey: z
    .string({ error: 'must be the path of a PEM file, or several with commas between' })
    .min(1, 'must be the path of a PEM file, or several with commas between')
    .optional(),
  throttleRate: wholeNumber(1, THROTTLE_MAX, 'requests per second').optional(),
  throttleBurst: wholeNumber(1, THROTTLE_MAX, 'requests').optional(),
  waf: flag.optional(),
  wafRatePerFiveMinutes: wholeNumber(WAF_RATE.min, WAF_RATE.max, 'requests').optional(),
  logLevel: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).optional(),
  logRetentionDays: wholeNumber(1, Math.max(...RETENTION_DAYS), 'days')
    .refine((days) => RETENTION_DAYS.includes(days), `must be one of ${RETENTION_DAYS.join(', ')} (days)`)
    .optional(),
  alarms: flag.optional(),
  alarmEmail: matching(EMAIL, 'must be one e-mail address, such as oncall@example.com').optional(),
  apiReservedConcurrency: wholeNumber(1, CONCURRENCY_MAX, 'instances of each function').optional(),
  pipelineReservedConcurrency: wholeNumber(1, CONCURRENCY_MAX, 'instances of each function').optional(),
  reconcileReservedConcurrency: wholeNumber(1, RECONCILE_CONCURRENCY_MAX, 'instances').optional(),
  apiProvisionedConcurrency: wholeNumber(0, CONCURRENCY_MAX, 'instances of each function').default(0),
})

/** The settings as given, with the defaults that no profile decides. */
export type ContextValues = z.infer<typeof contextSchema>
/** Name of a context setting. */
export type ContextKey = keyof ContextValues

function matching(pattern: RegExp, error: string) {
  return z.string({ error }).regex(pattern, error)
}

function wholeNumber(min: number, max: number, unit: string) {
  const error = `must be a whole number from ${min.toLocaleString('en')} to ${max.toLocaleString('en')} (${unit})`
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
