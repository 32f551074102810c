import * as z from 'zod'
import { videoReceiptResponse } from '../api/video-responses.ts'

/** Credits in a response. */
export const amountField = z.string().describe('Credits, as a decimal string.')

/** A time in a response. */
export const timeField = z.int().describe('Unix seconds.')

/** A time in a response of a defined operation. */
export const isoTimeField = z.iso.datetime().describe('ISO 8601, in UTC.')

/** A tenant by its id and its name. */
export const tenantName = z.strictObject({ id: z.string(), name: z.string() })

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
      'How often breakers opened in the last hour, since the start of a local host; on AWS those of all instances, minutes late. Null for video channels, and if the metric `breaker_opened` cannot be read.',
    ),
}

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
  channel: z.string().nullable().describe('Null before the job is submitted. For owners and viewers.'),
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
  .describe(
    'JSON; a string for what is no JSON or nests more than 64 levels deep; null if there is none. For owners and viewers.',
  )

/** A video job with all that the gateway knows about it. */
export const videoDetailResponse = z.strictObject({
  object: z.literal('video.detail'),
  ...row,
  failure_cause: z.string().nullable().describe('Where the job failed upstream. For owners and viewers.'),
  upstream_task: z.string().nullable().describe('The id of the upstream for the work. For owners and viewers.'),
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
