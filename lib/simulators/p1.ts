import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { rawNumber, type Simulator, type SimulatorRequest } from './server.ts'
import type { TaskPhase } from './task-book.ts'
import {
  type Reply,
  startTaskUpstream,
  type TaskUpstreamOptions,
  type TaskView,
  type TaskWire,
  utc8Time,
  type ValidSubmit,
} from './task-upstream.ts'
import type { SubmitRefusal, TaskFailure } from './video-magic-words.ts'

/** Options of a simulated P1. */
type P1Options = TaskUpstreamOptions & {
  /** The header for asynchronous mode, `X-Provider-Async` by default; its value must be `enable`. */
  readonly asyncHeader?: string
}

/** P1 keeps a task for a day. */
const RETENTION_SECONDS = 24 * 60 * 60

/** Starts a simulated P1. Rejects if the port is taken. */
export function startP1Simulator(options: P1Options = {}): Promise<Simulator> {
  const asyncHeader = (options.asyncHeader ?? 'X-Provider-Async').toLowerCase()
  return startTaskUpstream(options, {
    ...wire,
    validate: (request) => (request.headers[asyncHeader] === 'enable' ? validSubmit(request) : problem('synchronous')),
  })
}

type Problem = readonly [status: number, code: string, message: string]

/** The refusals, in the wording of P1. */
const PROBLEMS = {
  refuse: [400, 'InvalidParameter', 'Required parameter(s) missing or invalid, please check the request parameters.'],
  'refuse:moderated': [400, 'DataInspectionFailed', 'Input data may contain inappropriate content.'],
  'refuse:download': [415, 'BadRequest.InputDownloadFailed', 'Failed to download the input file.'],
  'refuse:person': [400, 'DataInspectionFailed', 'Input data may contain inappropriate content.'],
  unauthorized: [401, 'InvalidApiKey', 'Invalid API-key provided.'],
  synchronous: [403, 'AccessDenied', 'current user api does not support synchronous calls.'],
  arrears: [400, 'Arrearage', 'Access denied, please make sure your account is in good standing.'],
  'not-open': [
    403,
    'AccessDenied.Unpurchased',
    'Access to model denied. Please make sure you are eligible for using the model.',
  ],
  'no-model': [404, 'ModelNotFound', 'Model can not be found.'],
  path: [404, 'NotFound', 'No such path.'],
  busy: [429, 'Throttling.RateQuota', 'Requests rate limit exceeded, please try again later.'],
  'busy:always': [429, 'Throttling.RateQuota', 'Requests rate limit exceeded, please try again later.'],
  'busy:quota': [429, 'Throttling.AllocationQuota', 'Allocated quota exceeded, please increase your quota limit.'],
  'busy:overloaded': [503, 'ModelUnavailable', 'Model is unavailable, please try again later.'],
  internal: [500, 'InternalError', 'An internal error has occured, please try again later or contact service support.'],
  notPending: [
    400,
    'UnsupportedOperation',
    'Failed to cancel the task, please confirm if the task is in PENDING status.',
  ],
} as const satisfies Readonly<Record<SubmitRefusal, Problem>> & Readonly<Record<string, Problem>>

const FAILURES: Readonly<Record<TaskFailure, readonly [code: string, message: string]>> = {
  fail: [PROBLEMS.internal[1], PROBLEMS.internal[2]],
  'fail:input': ['InvalidParameter', 'The parameter is invalid.'],
  moderated: ['DataInspectionFailed', 'Output data may contain inappropriate content.'],
  'moderated:audio': ['DataInspectionFailed', 'Output data may contain inappropriate content.'],
}

function reply(status: number, body: unknown): Reply {
  return { status, body, headers: { 'x-request-id': randomUUID(), 'req-cost-time': '84', server: 'istio-envoy' } }
}

/** The flat error body. `detail` follows P1's sentence. */
function problem(name: keyof typeof PROBLEMS, detail?: string): Reply {
  const [status, code, message] = PROBLEMS[name]
  const text = detail === undefined ? message : `${message} (${detail})`
  return reply(status, { code, message: text, request_id: randomUUID() })
}

const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '4:5', '5:4', '9:21', '21:9'] as const
const SEED_MAX = 2_147_483_647
const REFERENCE_IMAGES_MAX = 9
const EDIT_IMAGES_MAX = 5
/** Assumed length of every edited video, because nothing is downloaded. */
const EDIT_INPUT_SECONDS = 6

const prompt = z.string().min(1)
const image = <Type extends string>(type: Type) =>
  z.strictObject({ type: z.literal(type), url: z.string().regex(/^(https?:\/\/|data:image\/)/) })
const video = z.strictObject({ type: z.literal('video'), url: z.url({ protocol: /^https?$/ }) })
const always = {
  resolution: z.enum(['480P', '720P', '1080P']).default('1080P'),
  watermark: z.boolean().optional(),
  seed: z.int().min(0).max(SEED_MAX).optional(),
}
const duration = z.int().min(3).max(15).default(5)
const ratio = z.enum(RATIOS).default('16:9')

/** The submits of each kind of model, by the suffix of its id. A parameter of another kind is refused, not ignored. */
const SUBMITS = {
  t2v: submitOf({ prompt }, { ...always, ratio, duration }),
  i2v: submitOf(
    { prompt: z.string().default(''), media: z.array(image('first_frame')).length(1) },
    { ...always, duration },
  ),
  r2v: submitOf(
    { prompt, media: z.array(image('reference_image')).min(1).max(REFERENCE_IMAGES_MAX) },
    { ...always, ratio, duration },
  ),
  'video-edit': submitOf(
    {
      prompt,
      media: z
        .array(z.union([image('reference_image'), video]))
        .max(1 + EDIT_IMAGES_MAX)
        .refine((entries) => entries.filter(({ type }) => type === 'video').length === 1, 'exactly one video'),
    },
    { ...always, audio_setting: z.enum(['auto', 'origin']).optional() },
  ),
}
const KINDS = ['t2v', 'i2v', 'r2v', 'video-edit'] as const satisfies readonly (keyof typeof SUBMITS)[]

function submitOf<Input extends z.ZodRawShape, Parameters extends z.ZodRawShape>(input: Input, parameters: Parameters) {
  return z.strictObject({
    model: z.string(),
    input: z.strictObject(input),
    parameters: z.preprocess((value) => value ?? {}, z.strictObject(parameters)),
  })
}

const detailsSchema = z.object({
  model: z.string(),
  kind: z.enum(KINDS),
  resolutionHeight: z.number(),
  ratio: z.string(),
  /** Length of the video. */
  seconds: z.number(),
  /** Length of the edited video; 0 for other kinds. */
  inputSeconds: z.number(),
})

type P1Details = Readonly<z.infer<typeof detailsSchema>>
type P1Task = TaskView<P1Details>

function validSubmit({ body }: SimulatorRequest): ValidSubmit<P1Details> | Reply {
  const head = z.object({ model: z.string() }).safeParse(body)
  if (!head.success) {
    return problem('refuse', 'model')
  }
  const { model } = head.data
  const kind = KINDS.find((candidate) => model.endsWith(`-${candidate}`))
  if (kind === undefined) {
    return problem('no-model')
  }
  const parsed = SUBMITS[kind].safeParse(body)
  if (!parsed.success) {
    return problem('refuse', parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  }
  const { input, parameters } = parsed.data
  if (parameters.resolution === '480P' && model.includes('-1.0-')) {
    return problem('refuse', 'parameters.resolution: the 1.0 line has no 480P')
  }
  const details = {
    model,
    kind,
    resolutionHeight: Number.parseInt(parameters.resolution, 10),
    ratio: 'ratio' in parameters ? parameters.ratio : '16:9',
    seconds: 'duration' in parameters ? parameters.duration : EDIT_INPUT_SECONDS,
    inputSeconds: kind === 'video-edit' ? EDIT_INPUT_SECONDS : 0,
  }
  return { prompt: input.prompt, details }
}

/** P1 forgets a task after its time limit instead of expiring it. */
const STATUSES: Readonly<Record<TaskPhase, string>> = {
  waiting: 'PENDING',
  running: 'RUNNING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELED',
  expired: 'UNKNOWN',
}

function stateOf(task: P1Task): Reply {
  const status = task.isOdd ? 'WARMING_UP' : STATUSES[task.phase]
  if (task.isOdd || task.phase === 'cancelled' || task.phase === 'expired') {
    return bareState(task.id, status)
  }
  const failure = task.phase === 'failed' ? task.magic.failure : undefined
  const isSuccess = task.phase === 'succeeded'
  const output = {
    task_id: task.id,
    task_status: status,
    // Only an internal failure has no times.
    ...(failure !== 'fail' && timesOf(task)),
    ...(failure !== undefined && { code: FAILURES[failure][0], message: FAILURES[failure][1] }),
    ...(isSuccess && { orig_prompt: task.prompt, video_url: task.videoUrl }),
  }
  return reply(200, { request_id: randomUUID(), output, usage: isSuccess ? usageOf(task) : undefined })
}

function bareState(taskId: string, status: string): Reply {
  return reply(200, { request_id: randomUUID(), output: { task_id: taskId, task_status: status } })
}

function timesOf({ phase, submittedAtMs, startsAtMs, endsAtMs }: P1Task) {
  return {
    submit_time: utc8Time(submittedAtMs),
    ...(phase !== 'waiting' && { scheduled_time: utc8Time(startsAtMs) }),
    ...((phase === 'succeeded' || phase === 'failed') && { end_time: utc8Time(endsAtMs) }),
  }
}

/** `duration` is the billed time: for an edit, input plus output seconds. */
function usageOf({ details, magic }: P1Task) {
  const { seconds, inputSeconds, kind, resolutionHeight } = details
  if (magic.usage === null) {
    return undefined
  }
  return {
    duration: magic.usage === undefined ? inputSeconds + seconds : rawNumber(magic.usage),
    input_video_duration: inputSeconds,
    output_video_duration: seconds,
    video_count: 1,
    SR: resolutionHeight,
    ...((kind === 't2v' || kind === 'r2v') && { ratio: details.ratio }),
  }
}

const wire: TaskWire<P1Details> = {
  detailsSchema,
  limitSeconds: RETENTION_SECONDS,
  retentionSeconds: RETENTION_SECONDS,
  // P1's documented limit of polls per second and account.
  pollsPerSecond: 20,
  paths: {
    submit: /^POST \/api\/v1\/services\/aigc\/video-generation\/video-synthesis$/,
    poll: /^GET \/api\/v1\/tasks\/([^/]+)$/,
    cancel: /^POST \/api\/v1\/tasks\/([^/]+)\/cancel$/,
  },
  validate: validSubmit,
  newId: () => randomUUID(),
  submitted: ({ id }) => reply(200, { output: { task_status: 'PENDING', task_id: id }, request_id: randomUUID() }),
  polled: stateOf,
  unknownTask: (taskId) => bareState(taskId, 'UNKNOWN'),
  cancel: (_, task) =>
    task?.phase === 'waiting'
      ? { ...reply(200, { request_id: randomUUID() }), effect: 'cancel' }
      : problem('notPending'),
  refuse: problem,
  fail: (status) => {
    const [, code, message] = Object.values(PROBLEMS).find(([own]) => own === status) ?? PROBLEMS.internal
    return reply(status, { code, message, request_id: randomUUID() })
  },
}
