import * as z from 'zod'
import { usageResponse } from '../api/responses.ts'
import { videoReceiptResponse } from '../api/video-responses.ts'
import { PERIOD_KINDS } from '../budgets.ts'

/** Credits in a response. */
export const amountField = z.string().describe('Credits, as a decimal string.')

/** A time in a response. */
export const timeField = z.int().describe('Unix seconds.')

/** A time in a response of a defined operation. */
export const isoTimeField = z.iso.datetime().describe('ISO 8601, in UTC.')

/** A tenant by its id and its name. */
export const tenantName = z.strictObject({ id: z.string(), name: z.string() })

/** A budget of a tenant or a key, as it counts now. */
export const budgetResponse = z.strictObject({
  amount: amountField.describe('What may be spent in one period.'),
  period: z.enum(PERIOD_KINDS).describe('In UTC. `total` never starts again.'),
  spent: amountField.describe('Settled in this period.'),
  held: amountField.describe('Reserved now.'),
  resets_at: timeField.nullable().describe('When the next period begins; null for `total`.'),
})

/** Counted usage of one settlement. */
export const usageCounts = z.strictObject({
  input_tokens: z.int(),
  cached_input_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int(),
  video_seconds: z.number(),
  images: z.int(),
})

/** Beside the rows of a page of a defined operation. */
export const pageFields = {
  has_more: z.boolean().describe('Whether another page follows. A filtered page may be short.'),
  next: z.string().nullable().describe('The value of `after` for the next page; null on the last page.'),
  as_of: isoTimeField.describe('When the rows were read, or when the summary that holds them was written.'),
}

/** One page of a list. A filtered page may be short although another one follows. */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.strictObject({
    object: z.literal('list'),
    data: z.array(row),
    has_more: z.boolean().describe('Whether another page follows. A filtered page may be short.'),
    next: z.string().nullable().describe('The value of `after` for the next page; null on the last page.'),
    as_of: timeField.describe('When the rows were read, or when the summary that holds them was written.'),
  })
}

/** Which minute the figures of channels describe. */
export const figuresFromField = timeField
  .nullable()
  .describe(
    'Begin of the minute of all figures: on AWS the newest that CloudWatch has whole and in which a channel was called, three to ten minutes ago; on a local host the last 60 seconds. Null without one.',
  )

/** How a channel does. */
export const channelFigures = z.strictObject({
  requests: z.int().describe('Calls of the upstream in the minute: relayed requests, submits, polls and cancels.'),
  errors: z.int().describe('Of these calls.'),
  p50_ms: z.number().nullable().describe('Until the head of the reply; null without a call.'),
  p95_ms: z.number().nullable(),
})

/** What is known of the breakers of a channel: a local host has one, and on AWS every instance has its own. */
export const breakerFields = {
  breaker: z
    .enum(['closed', 'open', 'half_open'])
    .nullable()
    .describe(
      'Of a local host. Null on AWS, where every instance has its own, and for video channels, which have none.',
    ),
  breaker_openings: z
    .int()
    .nullable()
    .describe(
      'On AWS: how often breakers of all instances opened in the last ten minutes, minutes late. Null on a local host, for video channels, and if the metric `breaker_opened` cannot be read.',
    ),
}

const minute = z.strictObject({ at: timeField, requests: z.int(), errors: z.int() })

const traffic = z.strictObject({
  from: timeField.describe(
    'Begin of the minute of these numbers: on AWS the newest that CloudWatch has whole, three to four minutes ago; on a local host the last 60 seconds.',
  ),
  requests_per_minute: z.int().describe('Relayed requests, refused ones too, and created video jobs.'),
  errors_per_minute: z
    .int()
    .describe('Relayed requests that failed by the gateway or an upstream, and video jobs that failed. No 4xx.'),
  first_byte_ms: z
    .strictObject({ p50: z.number(), p95: z.number() })
    .nullable()
    .describe('From a relayed request to the first byte of its response; null without one in the minute.'),
  minutes: z.array(minute).describe('The last half hour, without a gap, oldest first.'),
})

const attention = z.strictObject({
  kind: z.enum(['failing_jobs', 'budget', 'low_balance', 'breaker', 'channel_disabled', 'suspended']),
  level: z.enum(['warning', 'critical']),
  message: z.string(),
  tenant: tenantName.nullable(),
  target: z.string().nullable().describe('The latest failed job, the id of the budget of a key, or a channel.'),
})

/** What is going on, for a tenant or for all. */
export const overviewResponse = z.strictObject({
  object: z.literal('overview'),
  as_of: timeField,
  tenant: tenantName.nullable().describe('Null for all tenants.'),
  spend: z.strictObject({
    today: amountField.nullable().describe('Null where the tenant has too many counters to sum here: see `left_out`.'),
    month: amountField.nullable().describe('Null as `today`.'),
    budget: budgetResponse.nullable(),
    days: z.array(z.strictObject({ day: z.string(), cost: amountField, requests: z.int() })).describe('Oldest first.'),
    left_out: z.string().nullable().describe('What the amounts and days do not hold; null where they are complete.'),
  }),
  balance: z
    .strictObject({
      available: amountField.describe('What new requests may reserve. Negative after an overdraft.'),
      held: amountField.describe('Reserved by open requests and jobs.'),
      spent: amountField.describe('Settled since the tenant was created.'),
      granted: amountField.describe('available + held + spent.'),
    })
    .nullable()
    .describe('Null for all tenants.'),
  traffic: traffic.nullable().describe('Of all tenants; null for API keys, and where it cannot be read.'),
  open_jobs: z.int(),
  tenants: z.int().nullable().describe('How many there are; null for API keys and for one tenant.'),
  channels: z.array(
    z.strictObject({
      id: z.string(),
      disabled: z.boolean(),
      ...breakerFields,
      open_jobs: z.int().nullable(),
      figures: channelFigures.nullable(),
    }),
  ),
  figures_from: figuresFromField,
  attention: z.array(attention),
})

/** A video job as a row of a list. */
const row = {
  id: z.uuid(),
  tenant: tenantName,
  status: z.enum(['queued', 'processing', 'succeeded', 'failed', 'expired']),
  model: z.string(),
  created_at: timeField,
  ended_at: timeField.nullable().describe('Null while the job is open.'),
  duration: z.number().nullable().describe('Seconds: of the stored video, or else as asked for; null if unknown.'),
  resolution: z.string().nullable(),
  channel: z.string().nullable().describe('Null before the job is submitted, and for tenants.'),
  cost: amountField.nullable().describe('What was billed; null while the job is open.'),
  estimate: amountField.describe('What was reserved: an upper bound of the cost.'),
  percent: z.number().nullable().describe('Progress from 0 to 100; null if unknown.'),
  eta_seconds: z
    .number()
    .nullable()
    .describe('Expected seconds until the end; null if unknown, and for a job that takes longer than usual.'),
  error: z.string().nullable().describe('Why a failed job has no video.'),
  cancelled: z.boolean().describe('Whether the client or an operator ended the job.'),
}

/** Jobs of a tenant, newest first. */
export const videoListResponse = pageOf(z.strictObject(row))

/** One attempt of a callback. */
export const callbackAttemptResponse = z.strictObject({
  at: timeField,
  attempt: z.int().describe('1 is the automatic callback.'),
  status: z.int().nullable().describe('HTTP status; null without a response.'),
  milliseconds: z.int(),
  error: z.string().nullable(),
  delivered: z.boolean(),
})

const reply = z
  .unknown()
  .describe('JSON; a string for what is no JSON or nests more than 64 levels deep; null if there is none.')

/** A video job with all that the gateway knows about it. */
export const videoDetailResponse = z.strictObject({
  object: z.literal('video.detail'),
  ...row,
  failure_cause: z.string().nullable().describe('For operators: it may name channels. Null for tenants.'),
  upstream_task: z.string().nullable().describe('The id of the upstream for the work.'),
  request_id: z.string().nullable().describe('Of the request that made the job.'),
  request: z.unknown().describe('The request of the client; null once it was deleted.'),
  submit_reply: reply,
  poll_reply: reply,
  events: z
    .array(z.looseObject({ type: z.string(), at: timeField }))
    .describe('As `GET /v1/video/generations/{id}/events` lists them.'),
  receipt: videoReceiptResponse.nullable(),
  callback: z
    .strictObject({
      url_host: z.string(),
      attempts: z.array(callbackAttemptResponse),
      may_resend: z.boolean(),
    })
    .nullable()
    .describe('Null for a job without a callback url.'),
  video_url: z.url().nullable().describe('Signed url of the stored video.'),
  may: z
    .strictObject({ cancel: z.boolean(), delete: z.boolean(), redrive: z.boolean(), resend: z.boolean() })
    .describe('What this session may do now.'),
})

/** Callback attempts of the newest jobs of a tenant. */
export const callbackAttemptListResponse = pageOf(
  z.strictObject({
    job_id: z.uuid(),
    url_host: z.string(),
    ...callbackAttemptResponse.shape,
    may_resend: z.boolean(),
  }),
)

/** The usage of a tenant, or of all tenants, which a summary holds. */
export const adminUsageResponse = z.looseObject({
  ...usageResponse.shape,
  as_of: timeField.describe('When the counters were read, or when the summary of all tenants was written.'),
  left_out: z
    .string()
    .nullable()
    .describe('What the summary of all tenants leaves out, and the command that shows it; null if it is complete.'),
})
