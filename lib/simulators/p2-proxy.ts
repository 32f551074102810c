import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'
import { P2_SECONDS, type P2Task, p2IdOfTime, p2Seed, p2State, p2Usage } from './p2.ts'
import { faultOf, generationOf, type P2Details, p2DetailsSchema, validateP2Submit } from './p2-submit.ts'
import type { Simulator, SimulatorRequest } from './server.ts'
import {
  type Reply,
  startTaskUpstream,
  type TaskUpstreamOptions,
  type TaskWire,
  unixSeconds,
  type ValidSubmit,
} from './task-upstream.ts'
import type { SubmitRefusal } from './video-magic-words.ts'

/** Starts a simulated third-party proxy in front of P2. Rejects if the port is taken. */
export function startP2ProxySimulator(options: TaskUpstreamOptions = {}): Promise<Simulator> {
  return startTaskUpstream(options, wire)
}

type Problem = readonly [status: number, message: string, type: string, code: string, param?: string]

const INVALID: Problem = [400, 'Invalid request', 'invalid_request_error', 'invalid_request_error']
const INTERNAL: Problem = [500, 'Internal error', 'server_error', 'server_error']
const NOT_FOUND: Problem = [404, 'Task not found', 'invalid_request_error', 'task_not_found']

const PROBLEMS: Readonly<Record<SubmitRefusal | 'path', Problem>> = {
  refuse: INVALID,
  'refuse:moderated': [
    400,
    'The request failed because the input text may contain sensitive information.',
    'invalid_request_error',
    'content_policy_violation',
  ],
  'refuse:download': [400, 'The image could not be downloaded', 'invalid_request_error', 'invalid_image_url'],
  'refuse:person': [
    400,
    'The input image may contain real person.',
    'invalid_request_error',
    'content_policy_violation',
  ],
  unauthorized: [401, 'Invalid token', 'invalid_request_error', 'invalid_api_key'],
  arrears: [402, 'Insufficient balance', 'insufficient_quota', 'insufficient_quota'],
  'not-open': noChannel('of this prompt'),
  'no-model': noChannel('of this prompt'),
  path: NOT_FOUND,
  busy: [429, 'Rate limit exceeded', 'rate_limit_error', 'rate_limit_exceeded'],
  'busy:always': [429, 'Rate limit exceeded', 'rate_limit_error', 'rate_limit_exceeded'],
  'busy:quota': [429, 'Insufficient balance', 'insufficient_quota', 'insufficient_quota'],
  'busy:overloaded': [503, 'The service is overloaded', 'rate_limit_error', 'overloaded'],
}

/** A proxy reports an unknown model as missing capacity, because its models come from channels. */
function noChannel(model: string): Problem {
  return [503, `No available channel for model ${model}`, 'proxy_error', 'model_not_found', '']
}

/** The error body in the OpenAI form. */
function problem([status, message, type, code, param]: Problem): Reply {
  return { status, body: { error: { message, type, param: param ?? null, code } } }
}

/** The flat body; unknown fields are refused. */
const bodySchema = z.strictObject({
  model: z.string().min(1),
  prompt: z.string().min(1),
  duration: z.int().optional(),
  resolution: z.string().optional(),
  aspect_ratio: z.string().optional(),
  generate_audio: z.boolean().optional(),
  image_urls: z.array(z.string()).optional(),
  watermark: z.boolean().optional(),
})

/** Translates the flat body into P2's and validates the result. */
function validSubmit({ body }: SimulatorRequest): ValidSubmit<P2Details> | Reply {
  const invalid = (param: string, message: string) => problem([400, message, INVALID[2], INVALID[3], param])
  const parsed = bodySchema.safeParse(body)
  if (!parsed.success) {
    const { param, message } = faultOf(parsed.error)
    return invalid(param, message)
  }
  const { model, prompt, image_urls: imageUrls = [], aspect_ratio, generate_audio, ...rest } = parsed.data
  const role = imageUrls.length === 1 ? 'first_frame' : 'reference_image'
  const images = imageUrls.map((url) => ({ type: 'image_url', image_url: { url }, role }))
  const submit = validateP2Submit({
    model,
    content: [{ type: 'text', text: prompt }, ...images],
    ...rest,
    ratio: aspect_ratio,
    // The proxy requests sound only from models with sound.
    generate_audio: generationOf(model) === 2 ? generate_audio : undefined,
  })
  switch (submit.kind) {
    case 'unknown_model':
      return problem(noChannel(submit.model))
    case 'missing':
      return invalid(submit.param, `${submit.param} is missing`)
    case 'invalid':
      return invalid(submit.param, submit.reason)
    case 'valid':
      return submit
    default:
      return submit satisfies never
  }
}

/** The status word and the progress in percent of a phase. */
const STATES = {
  waiting: ['pending', 0],
  running: ['processing', 50],
  succeeded: ['succeeded', 100],
  failed: ['failed', 100],
  cancelled: ['cancelled', 100],
  expired: ['expired', 100],
} as const

function headOf(task: P2Task) {
  const [status, progress] = STATES[task.phase]
  return {
    id: task.id,
    task_id: task.id,
    object: 'video.generation.task',
    status: task.isOdd ? 'warming_up' : status,
    model: task.details.model,
    created: unixSeconds(task.submittedAtMs),
    progress: task.isOdd ? 0 : progress,
  }
}

/** Hexadecimal digits that belong to a task. */
function traceId(taskId: string): string {
  return createHash('sha256').update(taskId).digest('hex').slice(0, 16)
}

/** The success is at top level, with P2's body as `upstream_response`. */
function stateOf(task: P2Task): unknown {
  const head = headOf(task)
  if (task.isOdd || task.phase === 'waiting') {
    return head
  }
  if (task.phase === 'failed') {
    return failureOf(task)
  }
  // At P2 the task has another id than at the proxy, and always the same.
  const upstream = p2State({ ...task, id: `${p2IdOfTime(task.submittedAtMs)}${traceId(task.id).slice(0, 5)}` })
  if (task.phase !== 'succeeded') {
    const { id, model, status, created_at, updated_at } = upstream
    return { ...head, upstream_response: { id, model, status, created_at, updated_at } }
  }
  const data = task.videoUrl === undefined ? [] : [{ url: task.videoUrl }]
  if (task.magic.isMinimal) {
    return { task_id: task.id, status: 'completed', data }
  }
  const { seconds, resolution, ratio, generation, hasAudio } = task.details
  return {
    ...head,
    data,
    video_url: task.videoUrl,
    duration: seconds,
    resolution,
    ratio,
    framespersecond: '24',
    ...(generation === 2 && { generate_audio: hasAudio }),
    seed: p2Seed(task.id),
    usage: p2Usage(task),
    tos_key: `video/${task.id}.mp4`,
    trace_id: traceId(task.id),
    upstream_response: upstream,
  }
}

/** `[fail]` has the short form with a string as error, every other failure the long form. */
function failureOf(task: P2Task): unknown {
  const { id, task_id, object, status, model } = headOf(task)
  if (task.magic.failure === 'fail') {
    return { task_id, status, error: 'upstream rejected the task' }
  }
  const error = task.magic.failure?.startsWith('moderated')
    ? {
        code: 'content_policy_violation',
        message: 'The request failed because the output video may contain sensitive information.',
      }
    : { code: 'task_failed', message: 'upstream rejected the task' }
  return { id, task_id, object, status, model, error: { ...error, type: 'task_error' }, trace_id: traceId(id) }
}

const wire: TaskWire<P2Details> = {
  detailsSchema: p2DetailsSchema,
  ...P2_SECONDS,
  pollsPerSecond: Number.POSITIVE_INFINITY,
  paths: {
    submit: /^POST \/v1\/video\/generations$/,
    // Some services of this dialect have `/v1/tasks/`.
    poll: /^GET \/v1\/(?:video\/generations|tasks)\/([^/]+)$/,
  },
  validate: validSubmit,
  newId: () => `task_${randomBytes(7).toString('hex')}`,
  submitted: (task) => ({ status: 200, body: { ...headOf(task), trace_id: traceId(task.id) } }),
  polled: (task) => ({ status: 200, body: stateOf(task) }),
  unknownTask: () => problem(NOT_FOUND),
  refuse: (refusal) => problem(PROBLEMS[refusal]),
  fail: (status) => {
    if (status === 503) {
      return problem(noChannel('of this prompt'))
    }
    const [, message, type, code] = status < 500 ? INVALID : INTERNAL
    return problem([status, message, type, code])
  },
}
