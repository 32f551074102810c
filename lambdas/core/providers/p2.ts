import { RESOLUTIONS, type Resolution } from '../catalogue/parameters.ts'
import type { SchemaKit, SettingsOf } from '../catalogue/schema-parts.ts'
import {
  decimalText,
  fieldAt,
  firstDecimal,
  firstOf,
  nonBlank,
  percentOf,
  readUpstreamError,
  reportedQuantity,
  secondsBetween,
  taskIdText,
  upstreamWords,
} from './reply-reading.ts'
import type { CancelOutcome, SubmitCommand, VideoProvider, VideoResult } from './video-provider.ts'

const PROXY_PATHS = { submit: '/v1/video/generations', poll: '/v1/video/generations/{id}' }

function settings({ z, strictObject }: SchemaKit) {
  const paths = strictObject({
    submit: z.string().startsWith('/').default(PROXY_PATHS.submit),
    poll: z
      .string()
      .startsWith('/')
      .includes('{id}', { message: 'the path needs {id}, where the task id goes' })
      .default(PROXY_PATHS.poll),
  })
  return { route: z.enum(['direct', 'international', 'proxy']), paths: paths.default(PROXY_PATHS) }
}

type P2Channel = SettingsOf<typeof settings>

const TASKS_PATH = '/api/v3/contents/generations/tasks'

/** Every status word of P2 and the public shapes of its proxies, in lower case. */
const STATUSES = {
  open: [
    ...['pending', 'queued', 'submitted', 'not_start', 'preparing'],
    ...['running', 'processing', 'in_progress', 'generating'],
  ],
  succeeded: ['succeeded', 'success', 'completed'],
  failed: ['failed', 'failure', 'error', 'cancelled', 'canceled', 'expired', 'timeout'],
  gone: [],
}

/**
 * P2's own task API, the same on the direct and the international route, and family A behind a third party (the proxy route): a flat
 * request, and a reply in any of the public shapes of such proxies. Failed tasks have HTTP status 200.
 */
export const p2 = {
  name: 'p2',
  settings,
  checksReferences: false,
  // A first wait near the tenth percentile and a constant gap cost least for their lag.
  polling: { first: 42, interval: 9, intervalFactorMax: 3 },
  submit: (command, { route, paths }) =>
    route === 'proxy'
      ? { path: paths.submit, body: proxyRequestBody(command) }
      : { path: TASKS_PATH, body: requestBody(command) },
  taskPath,
  // Proxies have no common way to cancel, so every task runs on.
  cancel: (taskId, channel) =>
    channel.route === 'proxy' ? undefined : { method: 'DELETE', path: taskPath(taskId, channel), decide: decideCancel },
  readTaskId: (body) => {
    const data = fieldAt(body, 'data')
    const places = [fieldAt(body, 'task_id'), fieldAt(body, 'id'), fieldAt(data, 'task_id'), fieldAt(data, 'id'), data]
    return firstOf(places.map(taskIdText))
  },
  statuses: STATUSES,
  readStatus,
  readFailure,
  readResult,
  // P2's own API does not say it.
  readPercent: (body) => firstOf(taskViews(body).map((view) => percentOf(fieldAt(view, 'progress')))),
  readGenerationSeconds: (body) => firstOf(taskViews(body).map(secondsBetween)),
} as const satisfies VideoProvider<P2Channel>

function taskPath(taskId: string, { route, paths }: P2Channel): string {
  return route === 'proxy' ? paths.poll.replaceAll('{id}', () => taskId) : `${TASKS_PATH}/${taskId}`
}

/** DELETE cancels a queued task, but removes the record of a finished one with the same reply. */
function decideCancel(word: string): CancelOutcome | undefined {
  if (word === 'queued') {
    return undefined
  }
  return word === 'cancelled' ? 'cancelled' : 'refused'
}

/** Family A always makes 24 frames per second. Replies hold either seconds or frames. */
const FRAMES_PER_SECOND = 24

/** Rounds a third of a second to microseconds. */
const SECONDS_DECIMALS = 6

const HTTP_URL = /^https?:\/\//i

/**
 * The places where a proxy may put the fields of a task, outermost first: the top level, an envelope's `data`, and the nested
 * reply of the upstream itself.
 */
function taskViews(body: unknown): readonly unknown[] {
  const data = fieldAt(body, 'data')
  const nested = fieldAt(data, 'data')
  return [body, data, fieldAt(body, 'upstream_response'), nested, fieldAt(data, 'upstream_response')]
}

/** The same on every route. The first place that has a value wins. */
function readResult(body: unknown): VideoResult {
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

/** In lower case. The first listed word wins over any other. */
function readStatus(body: unknown): string | undefined {
  const words = taskViews(body)
    .map((view) => nonBlank(fieldAt(view, 'status'))?.trim().toLowerCase())
    .filter((word) => word !== undefined)
  const listed = words.filter((word) => Object.values(STATUSES).flat().includes(word))
  // A "success" around another status word belongs to the envelope: the call succeeded, and the task may still run.
  return (listed[0] === 'success' ? listed[1] : undefined) ?? listed[0] ?? words[0]
}

/** The message of the failure itself comes before that of an envelope, which may say that the call succeeded. */
function readFailure(body: unknown, word: string): string {
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
  ...['rs', 'resolution', 'rt', 'ratio', 'dur', 'duration', 'frames', 'fps', 'frames_?per_?second', 'seed'],
  ...['cf', 'camera_?fixed', 'wm', 'watermark', 'generate_?audio'],
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
function requestBody({ request, model, upstreamModelId }: SubmitCommand): object {
  const { image_urls: images, video_urls: videos, audio_urls: audios } = request
  // A single image is the first frame, and the picture follows it. Frames and references cannot be mixed.
  const isFirstFrame = images.length === 1 && videos.length === 0 && audios.length === 0
  const role: Role = isFirstFrame ? 'first_frame' : 'reference_image'
  return {
    model: upstreamModelId,
    content: [
      { type: 'text', text: promptOf({ request, model }) },
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
function proxyRequestBody({ request, model, upstreamModelId }: SubmitCommand): object {
  return {
    model: upstreamModelId,
    prompt: promptOf({ request, model }),
    duration: request.duration,
    resolution: request.resolution.toLowerCase(),
    aspect_ratio: request.aspect_ratio,
    ...(model.audio.supported ? { generate_audio: request.generate_audio } : {}),
    ...(request.image_urls.length > 0 ? { image_urls: request.image_urls } : {}),
    watermark: request.watermark,
  }
}

function promptOf({ request, model }: Pick<SubmitCommand, 'request' | 'model'>): string {
  return model.prompt_flags ? neutralizePromptFlags(request.prompt) : request.prompt
}
