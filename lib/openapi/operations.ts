import { LISTED_STATUSES } from '#core/jobs/video-job.ts'
import { type OperationObject, type Parameter, readExamples, schemaReference } from './openapi-types.ts'

/** The description of one operation. ROUTES has its method, path and statuses. */
export type OperationDocument = {
  /** Its group: a name in the tags of the document. */
  readonly tag: string
  /** A phrase for menus. */
  readonly summary: string
  /** Sentences of Markdown. */
  readonly description: string
  readonly parameters?: readonly Parameter[]
  readonly response: {
    readonly description: string
    /** Schema of the data of one event, if a client may ask for a stream. */
    readonly events?: string
    /** What a stream says besides its events, and how it ends; by default that of a relayed one. */
    readonly stream?: string
    /** What a 204 means, for a route that responds with it. */
    readonly complete?: string
    /** Headers besides those of every response. */
    readonly headers?: readonly HeaderName[]
  }
  /** Requests from the gateway to the client, by the expression for their url. */
  readonly callbacks?: NonNullable<OperationObject['callbacks']>
}

/** Groups of operations, in display order: those of relayed ones come after the first two. */
export const TAGS = {
  Video: 'Asynchronous video jobs: create, fetch, list, delete, and one signed callback.',
  Models: 'The models that a key may use.',
  Usage: 'What was used, what it cost, and what is left.',
  Service: 'The service itself, without a key.',
} as const

export type HeaderName = keyof typeof import('./responses.ts').HEADERS

const JOB_ID: Parameter = {
  name: 'job_id',
  in: 'path',
  description: 'Id of the job. Unknown, deleted and malformed ids, and those of other tenants, get the same 404.',
  schema: { type: 'string', format: 'uuid' },
  example: '01a1fc2e-81af-73ac-ac94-a565c804e433',
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Your own key. For 24 hours, the same key with the same body returns the first job; with another body it is a 409.',
  schema: { type: 'string', maxLength: 255 },
  example: 'order-1042',
}

const LAST_EVENT_ID: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'For a stream: the id of the last event that you have. Only later events are sent.',
  schema: { type: 'string' },
  example: 'progress:37',
}

const PAGE: readonly Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    description: 'Jobs per page. Above 100 counts as 100; below 1, or not a whole number, as 20.',
    schema: { type: 'integer', default: 20 },
  },
  {
    name: 'offset',
    in: 'query',
    description: 'Jobs to skip. Negative, or not a whole number, counts as 0; above 10,000 is a 400.',
    schema: { type: 'integer', default: 0, maximum: 10_000 },
  },
  {
    name: 'after',
    in: 'query',
    description: 'Id of a job; the page starts after it. Unlike `offset`, it does not shift when new jobs arrive.',
    schema: { type: 'string', format: 'uuid' },
  },
]

const FILTERS: readonly Parameter[] = [
  {
    name: 'status',
    in: 'query',
    description:
      'Only jobs that read this status; `cancelled` is the part of `failed` that was cancelled. Cannot be combined with `offset`.',
    schema: { type: 'string', enum: [...LISTED_STATUSES] },
  },
  {
    name: 'model',
    in: 'query',
    description: 'Only jobs of this model. Cannot be combined with `offset`.',
    schema: { type: 'string', minLength: 1, maxLength: 128 },
  },
  {
    name: 'created_after',
    in: 'query',
    description: 'Only jobs with this `created_at` or a later one. Unix seconds.',
    schema: { type: 'integer', minimum: 0 },
  },
  {
    name: 'created_before',
    in: 'query',
    description: 'Only jobs with an earlier `created_at` than this. Unix seconds.',
    schema: { type: 'integer', minimum: 0 },
  },
]

const callbackHeader = (name: string, description: string, required = true) => ({
  name,
  in: 'header' as const,
  required,
  description,
  schema: { type: 'string' },
})

/** Standard Webhooks, one post. */
const JOB_ENDED: NonNullable<OperationDocument['callbacks']> = {
  jobEnded: {
    '{$request.body#/callback_url}': {
      post: {
        operationId: 'receiveVideoJobCallback',
        tags: ['Video'],
        summary: 'A job has ended',
        description:
          'Sent once, after the video has been stored or the job has failed. There is no retry, but you can have it sent again. Redirects are not followed. Verify the Standard Webhooks signature over the received bytes.',
        security: [],
        parameters: [
          callbackHeader('webhook-id', '`msg_` and the id of the job.'),
          callbackHeader('webhook-timestamp', 'Time of sending, Unix seconds.'),
          callbackHeader(
            'webhook-signature',
            '`v1,` and the base64 of an HMAC-SHA256 of id, timestamp and body with the tenant’s secret. Several, separated by spaces, while the secret is rotated.',
          ),
          callbackHeader('x-request-id', 'Id of the request that created the job, if known.', false),
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
        responses: { '2XX': { description: 'Received. Respond within 15 seconds.' } },
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
      'Reserves an upper bound of the price and submits the job upstream. The response waits a few seconds for the upstream’s reply. Nothing that has a price is changed: an unsupported duration or resolution is a 400.',
    parameters: [IDEMPOTENCY_KEY],
    response: { description: 'The job was created.' },
    callbacks: JOB_ENDED,
  },
  'list-video-jobs': {
    tag: 'Video',
    summary: 'List the jobs of the tenant',
    description:
      'Newest first. Continue with `after=<last_id>` and the same filters while `has_more` is true. A page by `status` or `model` looks at 1,000 jobs at most, so it may be short or empty while `has_more` is true.',
    parameters: [...PAGE, ...FILTERS],
    response: { description: 'A page of jobs.' },
  },
  'get-video-job': {
    tag: 'Video',
    summary: 'Fetch a job',
    description: 'A job can be fetched for 30 days from its creation.',
    parameters: [JOB_ID],
    response: { description: 'The job.' },
  },
  'delete-video-job': {
    tag: 'Video',
    summary: 'Delete a job and its video',
    description:
      'The job disappears at once, in any state. A task that an upstream has started is billed when it ends; a waiting one is cancelled if the upstream can.',
    parameters: [JOB_ID],
    response: { description: 'The job was deleted.' },
  },
  'get-video-receipt': {
    tag: 'Video',
    summary: 'Fetch the receipt of a job',
    description:
      'What was reserved and billed, from the ledger alone: also for deleted jobs and jobs that have expired.',
    parameters: [JOB_ID],
    response: { description: 'The receipt.' },
  },
  'cancel-video-job': {
    tag: 'Video',
    summary: 'Cancel a job',
    description:
      'The job reads `failed` with the error `cancelled by the client` at once, and its callback is sent. A job that waits, in the gateway or at an upstream that can cancel, costs nothing; a task that an upstream has started is billed when it ends. A job that has ended is a 409, as is a repeated cancel.',
    parameters: [JOB_ID],
    response: { description: 'The cancelled job.' },
  },
  'resend-video-callback': {
    tag: 'Video',
    summary: 'Send the callback of a job again',
    description:
      'Sends the callback of an ended job once more, with the same `webhook-id`, a new timestamp and a new signature, and returns the outcome of this attempt, also if it failed. Up to 10 times per job. The response waits for the receiver, up to 15 seconds.',
    parameters: [JOB_ID],
    response: { description: 'The callback was sent; `delivered` says whether it arrived.' },
  },
  'get-video-events': {
    tag: 'Video',
    summary: 'Fetch or follow the events of a job',
    description:
      'A list, or with `Accept: text/event-stream` a stream that goes on until the job has ended and a callback that is due was sent. A stream ends after a minute, and a key has at most 20: continue with `Last-Event-ID`. A stream that ends without `succeeded`, `failed` or `cancelled` is over its time, or its job was deleted.',
    parameters: [JOB_ID, LAST_EVENT_ID],
    response: {
      description: 'The events until now, or as they happen.',
      events: 'VideoEvent',
      stream: 'Each has the id, the type as its event, and one JSON object of the schema as its data.',
      complete: 'Of a stream with `Last-Event-ID`: you have every event, so do not come back.',
    },
  },
  'create-video-quote': {
    tag: 'Video',
    summary: 'Ask what a job would cost',
    description:
      'Takes the body of a create, checks it like a create, and creates nothing. It needs no funds. A model that the key may not use is unknown.',
    response: { description: 'The quote.' },
  },
} as const satisfies Readonly<Record<string, OperationDocument>>

const day = (name: 'from' | 'to', description: string, example: string): Parameter => ({
  name,
  in: 'query',
  description,
  schema: { type: 'string', format: 'date' },
  example,
})

const usageOf = (name: 'model' | 'key' | 'operation', description: string, example: string): Parameter => ({
  name,
  in: 'query',
  description,
  schema: { type: 'string', minLength: 1, maxLength: 128 },
  example,
})

const USAGE_QUERY: readonly Parameter[] = [
  day('from', 'First day, UTC; default: 29 days before `to`.', '2026-11-01'),
  day('to', 'Last day, UTC; default: today. A range has at most 92 days.', '2026-11-22'),
  {
    name: 'group_by',
    in: 'query',
    description:
      'Some of `day`, `model`, `key`, `operation` and, where the operator has it counted, `user`, each once, separated by commas.',
    schema: { type: 'string', default: 'day' },
    example: 'day,model',
  },
  usageOf('model', 'Only usage of this model.', 'chat-default'),
  usageOf('key', 'Only usage of the key with this public id.', 'Ab3dE6gH'),
  usageOf('operation', 'Only usage of this operation.', 'create-chat-completion'),
  {
    name: 'limit',
    in: 'query',
    description: 'Groups per page, from 1 to 1,000.',
    schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 1_000 },
  },
  {
    name: 'after',
    in: 'query',
    description:
      '`next` of the page before, whose other parameters may be left out. With other values of them it is a 400.',
    schema: { type: 'string' },
  },
]

/** What was used, and what it cost. */
export const USAGE_OPERATIONS = {
  'get-usage': {
    tag: 'Usage',
    summary: 'Usage of the tenant',
    description:
      'Sums over the settled requests and jobs of the tenant, by day, model, key and operation. A request counts on the day on which it is settled, in the same moment. `cost` is exact: it is the sum of the same settlements in the ledger. A range with more than 8 MB of counters is a 400.',
    parameters: USAGE_QUERY,
    response: { description: 'A page of groups.' },
  },
  'get-balance': {
    tag: 'Usage',
    summary: 'Balance of the tenant',
    description: 'What the tenant has, and what the key may do: its models, its end and its budget.',
    response: { description: 'The balance.' },
  },
} as const satisfies Readonly<Record<string, OperationDocument>>

/** The models, and the routes without a key. */
export const SERVICE_OPERATIONS = {
  'list-models': {
    tag: 'Models',
    summary: 'List the models',
    description: 'All models that the key may use, in the order of the configuration.',
    response: { description: 'The models.' },
  },
  'get-model': {
    tag: 'Models',
    summary: 'Fetch a model',
    description: 'A model that the key may not use is unknown.',
    parameters: [
      {
        name: 'model',
        in: 'path',
        description: 'Id of the model.',
        schema: { type: 'string' },
        example: 'chat-default',
      },
    ],
    response: { description: 'The model.' },
  },
  'get-openapi-document': {
    tag: 'Service',
    summary: 'This document',
    description: 'The document of the deployed version.',
    parameters: [
      {
        name: 'If-None-Match',
        in: 'header',
        description: 'The `ETag` of your copy.',
        schema: { type: 'string' },
      },
    ],
    response: { description: 'The document.', headers: ['ETag', 'Cache-Control', 'Vary'] },
  },
  'get-health': {
    tag: 'Service',
    summary: 'Whether the service is up',
    description:
      'Shows that the API and its functions run, and their version. It checks nothing behind them, so monitors may call it often.',
    response: { description: 'The service is up.', headers: ['Cache-Control'] },
  },
} as const satisfies Readonly<Record<string, OperationDocument>>
