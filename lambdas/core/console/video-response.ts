import * as z from 'zod'
import { videoReceiptResponse } from '../contract/video-receipt-response.ts'
import { amountField, pageOf, tenantName, timeField } from './response-parts.ts'

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
  eta_seconds: z.number().nullable().describe('Expected seconds until the end; null if unknown.'),
  error: z.string().nullable().describe('Why a failed job has no video.'),
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
