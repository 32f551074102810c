import * as z from 'zod'

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
