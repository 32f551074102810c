import { readExamples } from './examples.ts'
import { schemaReference } from './json-schema.ts'
import type { Parameter } from './openapi-types.ts'
import type { OperationDocument } from './operation-document.ts'

const JOB_ID: Parameter = {
  name: 'job_id',
  in: 'path',
  description: 'Id of the job. Unknown, deleted, malformed and other tenants’ ids are all the same 404.',
  schema: { type: 'string', format: 'uuid' },
  example: '01a1fc2e-81af-73ac-ac94-a565c804e433',
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A key of your own. Within 24 hours the same key with the same body answers with the first job; with another body it is a 409.',
  schema: { type: 'string', maxLength: 255 },
  example: 'order-1042',
}

const PAGE: readonly Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    description: 'Jobs of a page. Above 100 counts as 100; below 1 or no whole number as 20.',
    schema: { type: 'integer', default: 20 },
  },
  {
    name: 'offset',
    in: 'query',
    description: 'Jobs to skip. Negative or no whole number counts as 0; above 10,000 is refused.',
    schema: { type: 'integer', default: 0, maximum: 10_000 },
  },
  {
    name: 'after',
    in: 'query',
    description: 'Id of a job: the page begins behind it. Unlike `offset` it does not shift when new jobs arrive.',
    schema: { type: 'string', format: 'uuid' },
  },
]

const callbackHeader = (name: string, description: string, required = true) => ({
  name,
  in: 'header' as const,
  required,
  description,
  schema: { type: 'string' },
})

/** Standard Webhooks, one post (docs/decisions/0019). */
const JOB_ENDED: NonNullable<OperationDocument['callbacks']> = {
  jobEnded: {
    '{$request.body#/callback_url}': {
      post: {
        operationId: 'receiveVideoJobCallback',
        tags: ['Video'],
        summary: 'A job has ended',
        description:
          'Sent once, after the video is stored or the job has failed; never again, whatever the receiver answers, and redirects are not followed. Check the signature, which is of Standard Webhooks, over the bytes that arrived.',
        security: [],
        parameters: [
          callbackHeader('webhook-id', '`msg_` and the id of the job.'),
          callbackHeader('webhook-timestamp', 'Unix seconds of the sending.'),
          callbackHeader(
            'webhook-signature',
            '`v1,` and the base64 of an HMAC-SHA256 of id, timestamp and body with the secret of the tenant; several, parted by spaces, while the secret is rotated.',
          ),
          callbackHeader('x-request-id', 'Id of the request that created the job, where it is known.', false),
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: schemaReference('VideoJobCallback'),
              examples: readExamples('video-job-callback').requests,
            },
          },
        },
        responses: { '2XX': { description: 'Received. Answer within 15 seconds.' } },
      },
    },
  },
}

/** The routes below `/v1/video/`. */
export const VIDEO_OPERATIONS = {
  'create-video-job': {
    tag: 'Video',
    summary: 'Create a video job',
    description:
      'Locks an upper bound of the price and submits the job upstream. The answer waits a few seconds for the upstream’s submit answer. What has a price is never changed: a length or resolution that the model does not have is refused.',
    parameters: [IDEMPOTENCY_KEY],
    request: 'CreateVideoJobRequest',
    answer: { description: 'The job is made.', schema: 'CreatedVideoJob', headers: ['x-reelgate-ignored'] },
    callbacks: JOB_ENDED,
  },
  'list-video-jobs': {
    tag: 'Video',
    summary: 'List the jobs of the tenant',
    description: 'Newest first. Go on with `after=<last_id>` while `has_more` is true.',
    parameters: PAGE,
    answer: { description: 'A page of jobs.', schema: 'VideoJobList' },
  },
  'get-video-job': {
    tag: 'Video',
    summary: 'Fetch a job',
    description: 'A job can be fetched for 30 days from its creation.',
    parameters: [JOB_ID],
    answer: { description: 'The job.', schema: 'VideoJob' },
  },
  'delete-video-job': {
    tag: 'Video',
    summary: 'Delete a job and its video',
    description:
      'The job is gone at once, in any state. One that an upstream has begun is billed when it ends; one that waits is cancelled where the upstream can.',
    parameters: [JOB_ID],
    answer: { description: 'The job is deleted.', schema: 'VideoJobDeletion' },
  },
} as const satisfies Readonly<Record<string, OperationDocument>>
