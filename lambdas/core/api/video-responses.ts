import * as z from 'zod'
import { JOB_EVENT_TYPES } from '../jobs/job-events.ts'
import { JOB_ERROR_CODES } from '../jobs/video-job.ts'

/** The fields that the gateway injects into every response about a job. */
const identity = {
  id: z.uuid().describe('Id of the job, in lower case.'),
  object: z.literal('video.generation'),
  model: z.string().describe('Public id of the model.'),
  created_at: z.int().describe('Creation time, Unix seconds.'),
  expires_at: z.int().describe('Creation time plus 7 days, Unix seconds. The video is served until then.'),
}

const url = z
  .url()
  .describe(
    'Signed url of the stored video of a succeeded job. It needs no key, supports byte ranges, and expires at `expires_at`.',
  )

const duration = z
  .number()
  .nullable()
  .describe('Length of the stored video of a succeeded job in seconds; null in the rare case that it is unknown.')

const error = z.string().describe('Why a failed job has no video, in the words of the upstream or of the gateway.')

/** The 201: the upstream's submit reply with the injected fields. */
export const createdVideoJobResponse = z
  .looseObject({
    ...identity,
    status: z.literal('queued').describe('Always `queued`. Fetch the job for its current status.'),
  })
  .describe(
    'The submit response of the upstream, byte for byte, with the injected fields. If the upstream is slow: the injected fields alone.',
  )

/** A fetched job, or one row of a list. */
export const videoJobResponse = z
  .looseObject({
    ...identity,
    status: z
      .enum(['queued', 'processing', 'succeeded', 'failed', 'expired'])
      .describe('Poll every 5 to 15 seconds until `succeeded` or `failed`. A job is `expired` 7 days after creation.'),
    url: url.optional(),
    duration_secs: duration.optional(),
    error: error.optional(),
    error_code: z
      .enum(JOB_ERROR_CODES)
      .optional()
      .describe('Beside the error `no upstream capacity`: why, in the codes of the other routes.'),
    cancelled: z
      .literal(true)
      .optional()
      .describe('Beside `failed`: you or the operator cancelled the job. Absent for any other job.'),
  })
  .describe(
    'The latest response of the upstream, byte for byte, with the injected fields, which replace fields of the same name. All other fields depend on the upstream of the job and change with its API.',
  )

/** A page of jobs, newest first. */
export const videoJobListResponse = z.looseObject({
  object: z.literal('list'),
  data: z.array(videoJobResponse),
  has_more: z
    .boolean()
    .describe(
      'Whether older jobs may follow: fetch them with `after=<last_id>`. With `status` or `model` this can be true on a short or empty page.',
    ),
  last_id: z
    .uuid()
    .nullable()
    .describe(
      'Where the next page starts. It is the id of the last job of this page, or, on a page that a filter left short, of the last job that was looked at. Null when no job was found and none follows.',
    ),
})

/** The result of a deletion. */
export const videoJobDeletionResponse = z.looseObject({ deleted: z.literal(true) })

/** The payload of the callback. */
export const videoJobCallback = z.looseObject({
  id: identity.id,
  status: z.enum(['succeeded', 'failed']),
  url: url.optional(),
  duration_secs: duration.optional(),
  error: error.optional(),
})

/** One event of a video job. */
export const videoEventResponse = z.looseObject({
  id: z
    .string()
    .describe(
      'The same whenever the event is read: its type, or such as `progress:37`, `callback:1`. Also the `id` of its message in a stream.',
    ),
  type: z
    .enum(JOB_EVENT_TYPES)
    .describe('What happened. `succeeded`, `failed` or `cancelled` is the end of a job; only callbacks follow.'),
  at: z.int().describe('Unix seconds.'),
  percent: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .describe(
      'Of `progress`: what the upstream says, or else an estimate from the times that such jobs took. It never decreases, and is 100 only after success.',
    ),
  eta_seconds: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Of `progress`: seconds until half of such jobs have finished. Absent if that is unknown, and for a job that takes longer than usual.',
    ),
  cost: z.string().optional().describe('Of `settled`: credits, as a decimal string.'),
  error: z.string().optional().describe('Of `failed` and `cancelled`: why the job has no video.'),
  status: z
    .int()
    .nullable()
    .optional()
    .describe('Of `callback`: the HTTP status of your receiver; null without a response.'),
  attempt: z.int().min(1).optional().describe('Of `callback`: counts the attempts.'),
})

/** The events of a job until now, oldest first. */
export const videoEventListResponse = z.looseObject({
  object: z.literal('list'),
  data: z.array(videoEventResponse).describe('Oldest first. Of `progress`, the list has the current event alone.'),
})

const amount = z.string().describe('Credits, as a decimal string.')

const line = z.looseObject({
  what: z.string().describe('What is billed: the tier of the price.'),
  quantity: z.string().describe('An exact decimal.'),
  unit: z.string().describe('`second`, `million tokens` or `request`.'),
  unit_price: amount,
  amount: amount.describe('quantity × unit_price, rounded half up to a millionth of a credit.'),
})

/** What a video would cost. */
export const videoQuoteResponse = z.looseObject({
  object: z.literal('video.quote'),
  model: z.string(),
  estimate: amount.describe('What a create would reserve: an upper bound of the cost.'),
  lines: z.array(line).describe('The estimate in its parts.'),
  available: amount.describe('What the tenant has left.'),
  affordable: z.boolean().describe('Whether the balance and the budgets allow the create at this moment.'),
})

/** What a video cost. */
export const videoReceiptResponse = z.looseObject({
  object: z.literal('video.receipt'),
  id: z.string().describe('Id of the job.'),
  model: z.string(),
  billing: z.string().describe('`per_second`, `token` or `per_request`.'),
  estimate: amount.describe('What was reserved.'),
  cost: amount.nullable().describe('What was billed; null while the job is open, `0` for a job that failed.'),
  lines: z.array(line).describe('The cost in its parts, whose amounts sum to it.'),
  ledger: z.array(
    z.looseObject({
      kind: z.enum(['reserve', 'settle', 'release']),
      amount: amount.describe('What was reserved.'),
      actual: amount.nullable().describe('What a settlement billed.'),
      at: z.int().describe('Unix seconds.'),
    }),
  ),
})

/** The outcome of one try to deliver the callback of a job. */
export const videoCallbackAttemptResponse = z.looseObject({
  object: z.literal('video.callback'),
  id: z.uuid().describe('Id of the job.'),
  attempt: z.int().describe('The automatic callback is 1, resends are 2 to 11.'),
  at: z.int().describe('Time of sending, Unix seconds.'),
  status: z.int().nullable().describe('HTTP status of the receiver; null without a response.'),
  milliseconds: z.int().describe('Time until the response, or until the attempt was given up.'),
  error: z.string().nullable().describe('Why the callback was not delivered; null if it was.'),
  delivered: z.boolean().describe('Whether the receiver returned a 2xx.'),
})
