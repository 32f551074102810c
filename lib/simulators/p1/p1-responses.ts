import { randomUUID } from 'node:crypto'
import type { Behaviour } from '../shared/behaviour.ts'
import type { SubmitRefusal, TaskEnding } from '../shared/magic-prompt.ts'
import { rawNumber, usageNumber } from '../shared/raw-number.ts'
import type { SimulatedTask, TaskPhase } from '../shared/simulated-task.ts'
import type { JsonResponse } from '../shared/simulator-server.ts'
import { utc8Time } from '../shared/utc8-time.ts'
import type { P1Details } from './p1-validation.ts'

type Problem = readonly [status: number, code: string, message: string]

const INTERNAL: Problem = [
  500,
  'InternalError',
  'An internal error has occured, please try again later or contact service support.',
]
const PARAMETER: Problem = [
  400,
  'InvalidParameter',
  'Required parameter(s) missing or invalid, please check the request parameters.',
]
const MODEL: Problem = [404, 'ModelNotFound', 'Model can not be found.']
const RATE: Problem = [429, 'Throttling.RateQuota', 'Requests rate limit exceeded, please try again later.']

/** P1's refusals, in the wording of P1. */
export const P1_PROBLEMS = {
  parameter: PARAMETER,
  model: MODEL,
  rate: RATE,
  internal: INTERNAL,
  key: [401, 'InvalidApiKey', 'Invalid API-key provided.'],
  synchronous: [403, 'AccessDenied', 'current user api does not support synchronous calls.'],
  unpurchased: [
    403,
    'AccessDenied.Unpurchased',
    'Access to model denied. Please make sure you are eligible for using the model.',
  ],
  inspection: [400, 'DataInspectionFailed', 'Input data may contain inappropriate content.'],
  arrears: [400, 'Arrearage', 'Access denied, please make sure your account is in good standing.'],
  download: [415, 'BadRequest.InputDownloadFailed', 'Failed to download the input file.'],
  allocation: [429, 'Throttling.AllocationQuota', 'Allocated quota exceeded, please increase your quota limit.'],
  unavailable: [503, 'ModelUnavailable', 'Model is unavailable, please try again later.'],
  notPending: [
    400,
    'UnsupportedOperation',
    'Failed to cancel the task, please confirm if the task is in PENDING status.',
  ],
  path: [404, 'NotFound', 'No such path.'],
} as const satisfies Readonly<Record<string, Problem>>

const REFUSALS: Readonly<Record<SubmitRefusal, Problem>> = {
  refuse: PARAMETER,
  'refuse:moderated': P1_PROBLEMS.inspection,
  'refuse:download': P1_PROBLEMS.download,
  'refuse:person': P1_PROBLEMS.inspection,
  unauthorized: P1_PROBLEMS.key,
  arrears: P1_PROBLEMS.arrears,
  'not-open': P1_PROBLEMS.unpurchased,
  'no-model': MODEL,
  busy: RATE,
  'busy:always': RATE,
  'busy:quota': P1_PROBLEMS.allocation,
  'busy:overloaded': P1_PROBLEMS.unavailable,
}

/** A response of P1, with its headers. */
export function p1Answer(status: number, body: unknown): JsonResponse {
  const headers = { 'x-request-id': randomUUID(), 'req-cost-time': '84', server: 'istio-envoy' }
  return { kind: 'json', status, body, headers }
}

/** The flat error body. `detail` follows P1's sentence. */
export function p1Problem([status, code, message]: Problem, detail?: string): JsonResponse {
  const text = detail === undefined ? message : `${message} (${detail})`
  return p1Answer(status, { code, message: text, request_id: randomUUID() })
}

/** The response to a submit whose prompt requests a refusal. */
export function p1Refusal(refusal: SubmitRefusal): JsonResponse {
  return p1Problem(REFUSALS[refusal])
}

/** Any status from 400 to 599, with P1's code for it, if any. */
export function p1Failure(status: number): JsonResponse {
  const known = Object.values(P1_PROBLEMS).find(([candidate]) => candidate === status)
  return p1Problem(known ?? [status, INTERNAL[1], INTERNAL[2]])
}

const ENDINGS: Readonly<Record<Exclude<TaskEnding, 'succeed'>, Problem>> = {
  fail: INTERNAL,
  'fail:input': [200, 'InvalidParameter', 'The parameter is invalid.'],
  moderated: [200, 'DataInspectionFailed', 'Output data may contain inappropriate content.'],
  'moderated:audio': [200, 'DataInspectionFailed', 'Output data may contain inappropriate content.'],
}

/** P1's status word for a phase. P1 forgets a task after its time limit instead of expiring it. */
export function p1Status(phase: TaskPhase, words: Behaviour['statusWords']): string {
  switch (phase) {
    case 'waiting':
      return words === 'rare' ? 'SUSPENDED' : 'PENDING'
    case 'running':
      return 'RUNNING'
    case 'succeeded':
      return 'SUCCEEDED'
    case 'failed':
      return 'FAILED'
    case 'cancelled':
      return 'CANCELED'
    case 'expired':
      return 'UNKNOWN'
    default:
      return phase satisfies never
  }
}

/** A poll response with only a status word. */
export function p1BareState(taskId: string, status: string): unknown {
  return { request_id: randomUUID(), output: { task_id: taskId, task_status: status } }
}

type Rendering = {
  readonly behaviour: Behaviour
  /** Undefined for a success without a url. */
  readonly videoUrl: string | undefined
  /** Replaces the real status word. */
  readonly oddStatus?: string
}

/** The poll response of a task. */
export function p1State(task: SimulatedTask<P1Details>, rendering: Rendering): unknown {
  const { behaviour, videoUrl } = rendering
  const status = rendering.oddStatus ?? p1Status(task.phase, behaviour.statusWords)
  if (rendering.oddStatus !== undefined || status === 'CANCELED' || status === 'UNKNOWN') {
    return p1BareState(task.id, status)
  }
  const problem = task.phase === 'failed' && task.magic.ending !== 'succeed' ? ENDINGS[task.magic.ending] : undefined
  const output = {
    task_id: task.id,
    task_status: status,
    // Only an internal failure has no times.
    ...(problem === INTERNAL ? {} : timesOf(task)),
    ...(problem !== undefined && { code: problem[1], message: problem[2] }),
    ...(task.phase === 'succeeded' && { orig_prompt: task.prompt }),
    ...(task.phase === 'succeeded' && videoUrl !== undefined && { video_url: videoUrl }),
  }
  const usage = task.phase === 'succeeded' ? usageOf(task, behaviour) : undefined
  return { request_id: randomUUID(), output, ...(usage !== undefined && { usage }) }
}

function timesOf(task: SimulatedTask<P1Details>): Record<string, string> {
  const isDone = task.phase === 'succeeded' || task.phase === 'failed'
  return {
    submit_time: utc8Time(task.submittedAtMs),
    ...(task.phase !== 'waiting' && { scheduled_time: utc8Time(task.startsAtMs) }),
    ...(isDone && { end_time: utc8Time(task.endsAtMs) }),
  }
}

/** `duration` is the billed time: for an edit, input plus output seconds. */
function usageOf(task: SimulatedTask<P1Details>, behaviour: Behaviour): unknown {
  const { seconds, inputSeconds, kind, resolutionHeight, ratio } = task.details
  if (behaviour.dropUsage || task.magic.usage === null) {
    return undefined
  }
  const number = (value: number) => usageNumber(value, behaviour.floatUsage)
  const hasRatio = (kind === 't2v' || kind === 'r2v') && !behaviour.omitRatio
  return {
    duration: task.magic.usage === undefined ? number(inputSeconds + seconds) : rawNumber(task.magic.usage),
    input_video_duration: number(inputSeconds),
    output_video_duration: number(seconds),
    video_count: 1,
    SR: resolutionHeight,
    ...(hasRatio && { ratio }),
  }
}
