import type { P2Channel } from '#core/catalogue/channel.ts'
import { RESOLUTIONS, type Resolution } from '#core/catalogue/parameters.ts'
import type { VideoResult } from '#core/jobs/video-job.ts'
import type { WholeOutcome } from '../../platform/http/http-client.ts'
import {
  decimalText,
  fieldAt,
  firstDecimal,
  firstOf,
  nonBlank,
  parseJson,
  readUpstreamError,
  reportedQuantity,
  taskIdText,
  upstreamWords,
} from './reply-reading.ts'
import {
  type AccountCaller,
  CANCEL_LIMITS,
  createAccountCaller,
  POLL_LIMITS,
  SUBMIT_LIMITS,
  type VideoProviderDependencies,
} from './upstream-http.ts'
import {
  type CancelOutcome,
  cancelOutcome,
  type PollOutcome,
  readPollReply,
  type SubmitCommand,
  statuslessOutcome,
  submitOutcome,
  type TaskReply,
  type VideoProvider,
} from './video-provider.ts'

/** Family A always makes 24 frames per second. Replies hold either seconds or frames. */
const FRAMES_PER_SECOND = 24

/** Rounds a third of a second to microseconds. */
const SECONDS_DECIMALS = 6

const HTTP_URL = /^https?:\/\//i

/**
 * The places where a proxy may put the fields of a task, outermost first: the top level, an envelope's `data`, and the nested
 * reply of the upstream itself.
 */
export function taskViews(body: unknown): readonly unknown[] {
  const data = fieldAt(body, 'data')
  const nested = fieldAt(data, 'data')
  return [body, data, fieldAt(body, 'upstream_response'), nested, fieldAt(data, 'upstream_response')]
}

/** Reads what a success reply of any P2 route says about the video. The first place that has a value wins. */
export function readP2Result(text: string): VideoResult {
  return p2Result(parseJson(text))
}

/** As {@link readP2Result}, for a parsed body. */
export function p2Result(body: unknown): VideoResult {
  const views = taskViews(body)
  const seconds = firstDecimal(views.flatMap(secondsOf))
  return {
    videoUrl: firstOf(views.flatMap(urlsOf).map(httpUrl)),
    completionTokens: reportedQuantity(views.flatMap(tokensOf)),
    billableSeconds: seconds ?? reportedQuantity(views.flatMap(secondsOf)),
    // A length of zero counts as missing: the stored file has the real one.
    outputSeconds: Number(seconds) > 0 ? seconds : undefined,
    resolution: firstOf(views.flatMap(resolutionsOf)),
    audio: firstOf(views.map(audioOf)),
  }
}

function urlsOf(view: unknown): readonly unknown[] {
  return [
    fieldAt(view, 'content', 'video_url'),
    fieldAt(view, 'video_url'),
    fieldAt(view, 'data', 0, 'url'),
    fieldAt(view, 'data', 0, 'video_url'),
    fieldAt(view, 'url'),
    fieldAt(view, 'results', 0),
    fieldAt(view, 'results', 0, 'url'),
    fieldAt(view, 'metadata', 'url'),
  ]
}

function httpUrl(value: unknown): string | undefined {
  return typeof value === 'string' && HTTP_URL.test(value) ? value : undefined
}

function tokensOf(view: unknown): readonly unknown[] {
  return [fieldAt(view, 'usage', 'completion_tokens'), fieldAt(view, 'metadata', 'usage', 'completion_tokens')]
}

function secondsOf(view: unknown): readonly unknown[] {
  return [fieldAt(view, 'duration'), secondsOfFrames(fieldAt(view, 'frames')), fieldAt(view, 'metadata', 'duration')]
}

function secondsOfFrames(frames: unknown): number | undefined {
  const count = decimalText(frames)
  return count === undefined ? undefined : Number((Number(count) / FRAMES_PER_SECOND).toFixed(SECONDS_DECIMALS))
}

function resolutionsOf(view: unknown): readonly (Resolution | undefined)[] {
  return [fieldAt(view, 'resolution'), fieldAt(view, 'metadata', 'resolution')].map((value) =>
    RESOLUTIONS.find((resolution) => typeof value === 'string' && resolution === value.toUpperCase()),
  )
}

function audioOf(view: unknown): boolean | undefined {
  const value = fieldAt(view, 'generate_audio')
  return typeof value === 'boolean' ? value : undefined
}

type Progress = 'waiting' | 'running' | 'succeeded' | 'failed'

/** Every status word of P2 and the public shapes of its proxies, in lower case. */
const STATUS_WORDS: ReadonlyMap<string, Progress> = new Map([
  ...['pending', 'queued', 'submitted', 'not_start', 'preparing'].map((word) => [word, 'waiting'] as const),
  ...['running', 'processing', 'in_progress', 'generating'].map((word) => [word, 'running'] as const),
  ...['succeeded', 'success', 'completed'].map((word) => [word, 'succeeded'] as const),
  ...['failed', 'failure', 'error', 'cancelled', 'canceled', 'expired', 'timeout'].map(
    (word) => [word, 'failed'] as const,
  ),
])

/** Reads the task id from the reply to a submit, on any P2 route. */
export function p2TaskId(body: unknown): string | undefined {
  const data = fieldAt(body, 'data')
  const places = [fieldAt(body, 'task_id'), fieldAt(body, 'id'), fieldAt(data, 'task_id'), fieldAt(data, 'id'), data]
  return firstOf(places.map(taskIdText))
}

/** Reads the status word of a task, in lower case; undefined when there is none. The first listed word wins over any other. */
export function p2StatusWord(body: unknown): string | undefined {
  const words = taskViews(body)
    .map((view) => nonBlank(fieldAt(view, 'status'))?.trim().toLowerCase())
    .filter((word) => word !== undefined)
  const listed = words.filter((word) => STATUS_WORDS.has(word))
  // A "success" around another status word belongs to the envelope: the call succeeded, and the task may still run.
  return (listed[0] === 'success' ? listed[1] : undefined) ?? listed[0] ?? words[0]
}

/** The meaning of the reply to a poll, on any P2 route. Failed tasks have HTTP status 200. */
export function p2PollOutcome(outcome: WholeOutcome): PollOutcome {
  const task = readPollReply(outcome)
  return task.kind === 'task' ? outcomeOfTask(task) : task
}

function outcomeOfTask(task: TaskReply): PollOutcome {
  const { text, body } = task
  const word = p2StatusWord(body)
  if (word === undefined) {
    return statuslessOutcome(task)
  }
  const progress = STATUS_WORDS.get(word)
  switch (progress) {
    case 'succeeded':
      return { kind: 'succeeded', text, result: p2Result(body) }
    case 'failed':
      return { kind: 'failed', text, message: failureMessage(body, word) }
    case 'waiting':
    case 'running':
      return { kind: 'running', text, isKnownStatus: true }
    case undefined:
      return { kind: 'running', text, isKnownStatus: false, statusWord: word }
    default:
      return progress satisfies never
  }
}

/** The message of the failure itself comes before that of an envelope, which may say that the call succeeded. */
function failureMessage(body: unknown, word: string): string {
  const views = taskViews(body)
  const causes = views.flatMap((view) => [
    fieldAt(view, 'error'),
    fieldAt(view, 'error', 'message'),
    fieldAt(view, 'fail_reason'),
    fieldAt(view, 'failure_reason'),
    fieldAt(view, 'failure_reason', 'message'),
  ])
  const isPraise = fieldAt(body, 'code') !== undefined && readUpstreamError(body).code === undefined
  const messages = (isPraise ? views.slice(1) : views).map((view) => fieldAt(view, 'message'))
  const codes = views.map((view) => fieldAt(view, 'error', 'code'))
  return upstreamWords([...causes, ...messages, ...codes]) ?? `the upstream reported ${word}`
}

/**
 * The parameter flags, long and short, that family A 1.x obeys inside a prompt. Each can change the video, and so its cost,
 * after the price was reserved.
 */
const FLAG_NAMES = [
  'rs',
  'resolution',
  'rt',
  'ratio',
  'dur',
  'duration',
  'frames',
  'fps',
  'frames_?per_?second',
  'seed',
  'cf',
  'camera_?fixed',
  'wm',
  'watermark',
  'generate_?audio',
]

const FLAG = new RegExp(`-{2,}\\s*(?=(?:${FLAG_NAMES.join('|')})(?![a-z]))`, 'gi')

/** Replaces the hyphens of every flag by one en dash, so that the words stay and the model sees no flag. */
export function neutralizePromptFlags(prompt: string): string {
  return prompt.replace(FLAG, '–')
}

type Role = 'first_frame' | 'reference_image'

/**
 * Writes the submit body of P2's own API. Parameters are top-level fields, which the upstream checks. Flags inside the prompt,
 * which it does not check, are neutralized where the model obeys them. Audio is sent only to models that have the choice.
 */
export function p2RequestBody({ request, model, upstreamModelId }: SubmitCommand): object {
  const { image_urls: images, video_urls: videos, audio_urls: audios } = request
  // A single image is the first frame, and the picture follows it. Frames and references cannot be mixed.
  const isFirstFrame = images.length === 1 && videos.length === 0 && audios.length === 0
  const role: Role = isFirstFrame ? 'first_frame' : 'reference_image'
  return {
    model: upstreamModelId,
    content: [
      { type: 'text', text: p2Prompt({ request, model }) },
      ...images.map((url) => ({ type: 'image_url', image_url: { url }, role })),
      ...videos.map((url) => ({ type: 'video_url', video_url: { url }, role: 'reference_video' })),
      ...audios.map((url) => ({ type: 'audio_url', audio_url: { url }, role: 'reference_audio' })),
    ],
    resolution: request.resolution.toLowerCase(),
    ...(isFirstFrame ? {} : { ratio: request.aspect_ratio }),
    duration: request.duration,
    ...(model.audio.supported ? { generate_audio: request.generate_audio } : {}),
    watermark: request.watermark,
  }
}

/** Writes the flat submit body of the proxy route. Reference videos and audio force the direct route, so none arrive here. */
export function p2ProxyRequestBody({ request, model, upstreamModelId }: SubmitCommand): object {
  return {
    model: upstreamModelId,
    prompt: p2Prompt({ request, model }),
    duration: request.duration,
    resolution: request.resolution.toLowerCase(),
    aspect_ratio: request.aspect_ratio,
    ...(model.audio.supported ? { generate_audio: request.generate_audio } : {}),
    ...(request.image_urls.length > 0 ? { image_urls: request.image_urls } : {}),
    watermark: request.watermark,
  }
}

function p2Prompt({ request, model }: Pick<SubmitCommand, 'request' | 'model'>): string {
  return model.prompt_flags ? neutralizePromptFlags(request.prompt) : request.prompt
}

const TASKS_PATH = '/api/v3/contents/generations/tasks'
const taskPath = (taskId: string) => `${TASKS_PATH}/${encodeURIComponent(taskId)}`

type P2Dependencies = VideoProviderDependencies & { readonly channel: P2Channel }

/** P2's own task API, the same on the direct and the international route. A queued task can be cancelled. */
export function createP2VideoProvider({ channel, ...dependencies }: P2Dependencies): VideoProvider {
  const call = createAccountCaller(channel.base_url, dependencies)
  return {
    submit: (command) => submit(call, { path: TASKS_PATH, body: p2RequestBody(command) }, dependencies),
    poll: async (taskId) => p2PollOutcome(await call({ method: 'GET', path: taskPath(taskId), limits: POLL_LIMITS })),
    cancel: (taskId) => cancelQueuedTask(call, taskId),
  }
}

/**
 * Family A behind a third party: a flat request, and a reply in any of the public shapes of such proxies. Proxies have no
 * common way to cancel, so every task runs on.
 */
export function createP2ProxyVideoProvider({ channel, ...dependencies }: P2Dependencies): VideoProvider {
  const call = createAccountCaller(channel.base_url, dependencies)
  const pollPath = (taskId: string) => channel.paths.poll.replaceAll('{id}', () => encodeURIComponent(taskId))
  return {
    submit: (command) => submit(call, { path: channel.paths.submit, body: p2ProxyRequestBody(command) }, dependencies),
    poll: async (taskId) => p2PollOutcome(await call({ method: 'GET', path: pollPath(taskId), limits: POLL_LIMITS })),
    cancel: () => Promise.resolve('refused'),
  }
}

async function submit(
  call: AccountCaller,
  task: { readonly path: string; readonly body: object },
  { now = Date.now }: VideoProviderDependencies,
) {
  const outcome = await call({ ...task, method: 'POST', limits: SUBMIT_LIMITS, readTaskId: p2TaskId })
  return submitOutcome(outcome, p2TaskId, now())
}

/**
 * DELETE cancels a queued task, but removes the record of a finished one with the same reply. So the state is read first, and
 * only a queued task is deleted.
 */
async function cancelQueuedTask(call: AccountCaller, taskId: string): Promise<CancelOutcome> {
  const path = taskPath(taskId)
  const found = await call({ method: 'GET', path, limits: POLL_LIMITS })
  const word = found.kind === 'response' && found.status === 200 ? p2StatusWord(parseJson(found.text)) : undefined
  if (word === 'cancelled') {
    return 'cancelled'
  }
  if (word === undefined) {
    return 'unknown'
  }
  return word === 'queued' ? cancelOutcome(await call({ method: 'DELETE', path, limits: CANCEL_LIMITS })) : 'refused'
}
