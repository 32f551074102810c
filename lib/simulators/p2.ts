import { createHash, randomInt, randomUUID } from 'node:crypto'
import { type P2Details, p2DetailsSchema, validateP2Submit } from './p2-submit.ts'
import { rawNumber, type Simulator, type SimulatorRequest } from './server.ts'
import type { SimulatedTask } from './task-book.ts'
import {
  type Reply,
  startTaskUpstream,
  type TaskUpstreamOptions,
  type TaskView,
  type TaskWire,
  unixSeconds,
  utc8Time,
  type ValidSubmit,
} from './task-upstream.ts'
import type { SubmitRefusal, TaskFailure } from './video-magic-words.ts'

/** P2 gives up a task after two days, and keeps it for a week. */
export const P2_SECONDS = { limitSeconds: 172_800, retentionSeconds: 7 * 24 * 60 * 60 }

/** A task of P2, and of a proxy in front of it. */
export type P2Task = TaskView<P2Details>

/** Starts a simulated P2, for both the direct and the international route. Rejects if the port is taken. */
export function startP2Simulator(options: TaskUpstreamOptions = {}): Promise<Simulator> {
  return startTaskUpstream(options, wire)
}

/** An error of P2. `param` is empty if no parameter is at fault. */
type Problem = readonly [status: number, code: string, message: string, param?: string]

const UNAVAILABLE_DOWNLOAD =
  'The parameter `content[1].image_url` specified in the request is not valid: resource download failed.'

/** The refusals, in the wording of P2. */
const PROBLEMS: Readonly<Record<SubmitRefusal | 'path', Problem>> = {
  refuse: [400, 'InvalidParameter', 'The parameter `content` specified in the request is not valid.', 'content'],
  'refuse:moderated': [
    400,
    'InputTextSensitiveContentDetected',
    'The request failed because the input text may contain sensitive information.',
  ],
  'refuse:download': [400, 'InvalidParameter', UNAVAILABLE_DOWNLOAD, 'content[1].image_url'],
  'refuse:person': [
    400,
    'InputImageSensitiveContentDetected.PrivacyInformation',
    'The request failed because the input image may contain real person.',
  ],
  unauthorized: [401, 'AuthenticationError', 'The API key in the request is missing or invalid.'],
  arrears: [403, 'AccountOverdueError', 'The request failed because your account has an overdue balance.'],
  'not-open': [
    404,
    'ModelNotOpen',
    'Your account has not activated the model. Please activate the model service in the console.',
  ],
  'no-model': unknownModel('of this prompt'),
  path: [404, 'ResourceNotFound', 'The specified resource is not found.'],
  busy: [429, 'ModelAccountRpmRateLimitExceeded', 'RPM limit of the model is exceeded.'],
  'busy:always': [429, 'ModelAccountRpmRateLimitExceeded', 'RPM limit of the model is exceeded.'],
  'busy:quota': [
    429,
    'SetLimitExceeded',
    'Your account has reached the set inference limit for the model, and the model service has been paused.',
  ],
  'busy:overloaded': [
    429,
    'ServerOverloaded',
    'The service is currently unable to handle additional requests due to server overload.',
  ],
}

function unknownModel(model: string): Problem {
  const message = `The model or endpoint ${model} does not exist or you do not have access to it.`
  return [404, 'InvalidEndpointOrModel.NotFound', message]
}

const INTERNAL = ['InternalServiceError', 'The service encountered an unexpected internal error.'] as const

const FAILURES: Readonly<Record<TaskFailure, readonly [code: string, message: string]>> = {
  fail: INTERNAL,
  'fail:input': ['InvalidParameter', UNAVAILABLE_DOWNLOAD],
  moderated: [
    'OutputVideoSensitiveContentDetected',
    'The request failed because the output video may contain sensitive information.',
  ],
  'moderated:audio': [
    'OutputAudioSensitiveContentDetected.PolicyViolation',
    'The request failed because the output audio may be related to copyright restrictions.',
  ],
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
}

/** 021, thirteen digits of time, then hexadecimal digits. */
function requestId(): string {
  return `021${Date.now()}${randomUUID().replaceAll('-', '').slice(0, 16)}`
}

function reply(status: number, body: unknown): Reply {
  return { status, body, headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': requestId() } }
}

/** The nested error body, with P2's type for the status. */
function problem([status, code, message, param = '']: Problem): Reply {
  const type = ERROR_TYPES[status] ?? (status < 500 ? 'BadRequest' : 'InternalServerError')
  return reply(status, { error: { code, message: `${message} Request id: ${requestId()}`, param, type } })
}

function validSubmit({ body }: SimulatorRequest): ValidSubmit<P2Details> | Reply {
  const submit = validateP2Submit(body)
  switch (submit.kind) {
    case 'unknown_model':
      return problem(unknownModel(submit.model))
    case 'missing': {
      const message = `The request failed because it is missing \`${submit.param}\` parameter.`
      return problem([400, 'MissingParameter', message, submit.param])
    }
    case 'invalid':
      return problem([400, 'InvalidParameter', submit.reason, submit.param])
    case 'valid':
      return submit
    default:
      return submit satisfies never
  }
}

const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `cgt-`, the time in UTC+8, and five characters. */
function newId(nowMs: number): string {
  const tail = Array.from({ length: 5 }, () => ID_ALPHABET[randomInt(ID_ALPHABET.length)])
  return `${p2IdOfTime(nowMs)}${tail.join('')}`
}

/** The part of a task id that tells the time of its submit. */
export function p2IdOfTime(nowMs: number): string {
  return `cgt-${utc8Time(nowMs).slice(0, 19).replaceAll(/\D/g, '')}-`
}

/** The state of a task: the poll response. */
export function p2State(task: P2Task) {
  const status = task.phase === 'waiting' ? 'queued' : task.phase
  const [code, message] = FAILURES[task.magic.failure ?? 'fail']
  return {
    id: task.id,
    model: task.details.model,
    created_at: unixSeconds(task.submittedAtMs),
    updated_at: unixSeconds(task.changedAtMs),
    service_tier: 'default',
    execution_expires_after: P2_SECONDS.limitSeconds,
    status: task.isOdd ? 'warming_up' : status,
    ...(task.phase === 'failed' &&
      !task.isOdd && { error: { code, message: `${message} Request id: ${requestId()}` } }),
    ...(task.phase === 'succeeded' && !task.isOdd && successOf(task)),
  }
}

const FRAMES_PER_SECOND = 24

function successOf(task: P2Task) {
  const { model, generation, resolution, ratio, seconds, hasAudio } = task.details
  return {
    content: { video_url: task.videoUrl },
    usage: p2Usage(task),
    seed: p2Seed(task.id),
    resolution,
    ratio,
    duration: seconds,
    framespersecond: FRAMES_PER_SECOND,
    ...(generation === 2 && { generate_audio: hasAudio, draft: false }),
    ...(model.startsWith('intl-') && { output_format: 'mp4' }),
  }
}

/** Tokens by the formula or by the prompt; undefined for `[no-usage]`. */
export function p2Usage({ details, magic }: P2Task) {
  if (magic.usage === null) {
    return undefined
  }
  const tokens = magic.usage === undefined ? tokensOf(details) : rawNumber(magic.usage)
  return { completion_tokens: tokens, total_tokens: tokens }
}

/** The seed that P2 chose, which is the same in every response for a task. */
export function p2Seed(taskId: string): number {
  return createHash('sha256').update(taskId).digest().readUInt16BE(0)
}

/** Pixels of a frame by ratio and resolution, for each generation, from P2's documents; portrait swaps width and height. */
const FRAMES: Readonly<Record<string, Readonly<Record<string, readonly [first: number, second: number]>>>> = {
  '16:9': { '480p': [864 * 480, 864 * 496], '720p': [1248 * 704, 1280 * 720], '1080p': [1920 * 1088, 1920 * 1080] },
  '4:3': { '480p': [736 * 544, 752 * 560], '720p': [1120 * 832, 1112 * 834], '1080p': [1664 * 1248, 1664 * 1248] },
  '1:1': { '480p': [640 * 640, 640 * 640], '720p': [960 * 960, 960 * 960], '1080p': [1440 * 1440, 1440 * 1440] },
  '21:9': { '480p': [960 * 416, 992 * 432], '720p': [1504 * 640, 1470 * 630], '1080p': [2176 * 928, 2206 * 946] },
}

/** Landscape ratios with the area of portrait ratios, and of 5:4, which P2 accepts without a published size. */
const SAME_AREA: Readonly<Record<string, string>> = { '9:16': '16:9', '3:4': '4:3', '5:4': '4:3' }

const PIXELS_PER_TOKEN = 1024

/** Tokens that P2 bills: width x height x (24 x seconds + 1) / 1024, rounded down. */
function tokensOf({ generation, resolution, ratio, seconds }: P2Details): number {
  // The size of 4k is not published: twice 1080p on each side.
  const [published, times] = resolution === '4k' ? ['1080p', 4] : [resolution, 1]
  const pixels = (FRAMES[SAME_AREA[ratio] ?? ratio]?.[published]?.[generation - 1] ?? 1280 * 720) * times
  return Math.floor((pixels * (FRAMES_PER_SECOND * seconds + 1)) / PIXELS_PER_TOKEN)
}

/** Cancels a waiting task, and removes the record of a task that has ended. */
function cancel(
  taskId: string,
  task: SimulatedTask<P2Details> | undefined,
): ReturnType<NonNullable<typeof wire.cancel>> {
  if (task === undefined) {
    return problem(PROBLEMS.path)
  }
  if (task.phase === 'running' || task.phase === 'cancelled') {
    const code = `InvalidAction.${task.phase === 'running' ? 'Running' : 'Cancelled'}TaskDeletion`
    return problem([409, code, `Cannot delete task \`${taskId}\` because it is currently ${task.phase}.`])
  }
  return { ...reply(200, {}), effect: task.phase === 'waiting' ? 'cancel' : 'remove' }
}

const wire: TaskWire<P2Details> = {
  detailsSchema: p2DetailsSchema,
  ...P2_SECONDS,
  pollsPerSecond: Number.POSITIVE_INFINITY,
  paths: {
    submit: /^POST \/api\/v3\/contents\/generations\/tasks$/,
    poll: /^GET \/api\/v3\/contents\/generations\/tasks\/([^/]+)$/,
    cancel: /^DELETE \/api\/v3\/contents\/generations\/tasks\/([^/]+)$/,
  },
  validate: validSubmit,
  newId,
  submitted: ({ id }) => reply(200, { id }),
  polled: (task) => reply(200, p2State(task)),
  unknownTask: () => problem(PROBLEMS.path),
  cancel,
  refuse: (refusal) => problem(PROBLEMS[refusal]),
  fail: (status) => {
    const [, ...refused] = PROBLEMS.refuse
    const unavailable = ['ServiceUnavailable', 'The service is currently unavailable.'] as const
    return problem([status, ...(status < 500 ? refused : status === 503 ? unavailable : INTERNAL)])
  },
}
