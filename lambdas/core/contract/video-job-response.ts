import * as z from 'zod'

/** What the gateway injects into every answer about a job (interface, "Video job"). */
const identity = {
  id: z.uuid().describe('Id of the job: fetch, list and delete it by this, in lower case as it comes.'),
  object: z.literal('video.generation'),
  model: z.string().describe('Public id of the model.'),
  created_at: z.int().describe('Creation, unix seconds.'),
  expires_at: z.int().describe('Creation and 7 days, unix seconds: the video is served until then.'),
}

const url = z
  .url()
  .describe(
    'Signed url of the stored video, of a succeeded job. Needs no key, takes byte ranges, ends with `expires_at`.',
  )

const duration = z
  .number()
  .nullable()
  .describe('Length of the stored video in seconds, of a succeeded job; null in the rare case that nobody knows it.')

const error = z
  .string()
  .describe('Why there is no video, of a failed job: the words of the upstream or of the gateway.')

/** The 201: the submit answer of the upstream with the injected members. Documents the answer; nothing at run time parses it. */
export const createdVideoJobAnswer = z
  .looseObject({
    ...identity,
    status: z.literal('queued').describe('Always `queued`; how the job goes on shows when it is fetched.'),
  })
  .describe(
    'The submit answer of the upstream, byte for byte, with the injected members. Without an answer in time: the injected members alone.',
  )

/** A job as it is fetched, and as one row of a list. */
export const videoJobAnswer = z
  .looseObject({
    ...identity,
    status: z
      .enum(['queued', 'processing', 'succeeded', 'failed', 'expired'])
      .describe('Poll every 5 to 15 seconds until `succeeded` or `failed`. `expired` is 7 days after creation.'),
    url: url.optional(),
    duration_secs: duration.optional(),
    error: error.optional(),
  })
  .describe(
    'The latest answer of the upstream, byte for byte, with the injected members, which win where names meet. The other members depend on the channel that took the job and change with the upstream.',
  )

/** A page of jobs, newest first. */
export const videoJobListAnswer = z.looseObject({
  object: z.literal('list'),
  data: z.array(videoJobAnswer),
  has_more: z.boolean().describe('Whether another page follows: go on with `after=<last_id>`.'),
  last_id: z.uuid().nullable().describe('Id of the last job of this page; null on an empty page.'),
})

/** What a deletion answers. Documents the answer; nothing at run time parses it. */
export const videoJobDeletionAnswer = z.looseObject({ deleted: z.literal(true) })

/** The payload of the callback (interface, "Events"). */
export const videoJobCallback = z.looseObject({
  id: identity.id,
  status: z.enum(['succeeded', 'failed']),
  url: url.optional(),
  duration_secs: duration.optional(),
  error: error.optional(),
})
