import type { P1Channel } from '#core/catalogue/channel.ts'
import type { VideoModel } from '#core/catalogue/model.ts'
import { DURATION_SECONDS, RESOLUTIONS, type Resolution } from '#core/catalogue/parameters.ts'
import type { VideoResult } from '#core/jobs/video-job.ts'
import type { WholeOutcome } from '../../platform/http/http-client.ts'
import {
  decimalText,
  fieldAt,
  nonBlank,
  parseJson,
  reportedQuantity,
  taskIdText,
  upstreamWords,
} from './reply-reading.ts'
import {
  CANCEL_LIMITS,
  createAccountCaller,
  POLL_LIMITS,
  SUBMIT_LIMITS,
  type VideoProviderDependencies,
} from './upstream-http.ts'
import {
  cancelOutcome,
  type PollOutcome,
  readPollReply,
  type SubmitCommand,
  statuslessOutcome,
  submitOutcome,
  type TaskReply,
  type VideoProvider,
} from './video-provider.ts'

/** Reads the task id from P1's reply to a submit. */
export function p1TaskId(body: unknown): string | undefined {
  return taskIdText(fieldAt(body, 'output', 'task_id'))
}

/** The meaning of the reply to P1's task query, which has status 200 for every state of a task, unknown ids included. */
export function p1PollOutcome(outcome: WholeOutcome): PollOutcome {
  const task = readPollReply(outcome)
  return task.kind === 'task' ? outcomeOfTask(task) : task
}

function outcomeOfTask(task: TaskReply): PollOutcome {
  const word = nonBlank(fieldAt(task.body, 'output', 'task_status'))?.toUpperCase()
  const { text } = task
  switch (word) {
    case undefined:
      return statuslessOutcome(task)
    case 'PENDING':
    case 'RUNNING':
    case 'SUSPENDED':
      return { kind: 'running', text, isKnownStatus: true }
    case 'SUCCEEDED':
      return { kind: 'succeeded', text, result: resultOfBody(task.body) }
    case 'FAILED':
    case 'CANCELED':
    case 'CANCELLED':
      return { kind: 'failed', text, message: failureMessage(task.body, word) }
    case 'UNKNOWN':
      return { kind: 'gone', reason: 'task status UNKNOWN' }
    default:
      return { kind: 'running', text, isKnownStatus: false, statusWord: word }
  }
}

function failureMessage(body: unknown, word: string): string {
  const said = [fieldAt(body, 'output', 'message'), fieldAt(body, 'output', 'code'), fieldAt(body, 'message')]
  const requestId = nonBlank(fieldAt(body, 'request_id'))
  const suffix = requestId === undefined ? '' : ` (request ${requestId})`
  return upstreamWords(said) ?? `the upstream reported ${word}${suffix}`
}

/** Reads what P1's success reply says of the video. */
export function readP1Result(text: string): VideoResult {
  return resultOfBody(parseJson(text))
}

function resultOfBody(body: unknown): VideoResult {
  const usage = fieldAt(body, 'usage')
  return {
    videoUrl: nonBlank(fieldAt(body, 'output', 'video_url')),
    completionTokens: undefined,
    billableSeconds: reportedQuantity([fieldAt(usage, 'duration')]),
    outputSeconds: outputSeconds(usage),
    resolution: resolutionOfHeight(fieldAt(usage, 'SR')),
    audio: undefined,
  }
}

/**
 * `usage.duration` is what P1 bills. For an edit it is the sum of input and output, so it is the length of the video only where
 * no input was counted and a video can be that long.
 */
function outputSeconds(usage: unknown): string | undefined {
  const output = decimalText(fieldAt(usage, 'output_video_duration'))
  if (output !== undefined && Number(output) > 0) {
    return output
  }
  const billed = decimalText(fieldAt(usage, 'duration'))
  const input = Number(decimalText(fieldAt(usage, 'input_video_duration')) ?? '0')
  const isLength = input === 0 && Number(billed) > 0 && Number(billed) <= DURATION_SECONDS.max
  return isLength ? billed : undefined
}

/** 720, "720" and "720P" are all 720P. */
function resolutionOfHeight(value: unknown): Resolution | undefined {
  const height = /^(\d+)p?$/i.exec(String(nonBlank(value) ?? decimalText(value)))?.[1]
  return RESOLUTIONS.find((resolution) => resolution === `${height}P`)
}

type P1Kind = 'text_to_video' | 'image_to_video' | 'reference_to_video' | 'video_edit'
type P1Media = { readonly type: 'first_frame' | 'reference_image' | 'video'; readonly url: string }

/** The kind of a model, derived from its inputs, because the operator chooses the ids. */
function p1Kind(model: VideoModel): P1Kind {
  if (model.videos.min >= 1) {
    return 'video_edit'
  }
  if (model.images.max === 0) {
    return 'text_to_video'
  }
  return model.images.max === 1 ? 'image_to_video' : 'reference_to_video'
}

/**
 * Writes the submit body of P1. It holds only the parameters that the kind of model knows, because P1 refuses the others: no
 * ratio where the picture follows an input, no duration for an edit, and never audio, frame rate or callback. The watermark is
 * always sent, so the upstream's default never applies.
 */
export function p1RequestBody({ request, model, upstreamModelId }: SubmitCommand): object {
  const kind = p1Kind(model)
  const media = p1Media(kind, request)
  const hasRatio = kind === 'text_to_video' || kind === 'reference_to_video'
  return {
    model: upstreamModelId,
    input: { prompt: request.prompt, ...(media.length > 0 ? { media } : {}) },
    parameters: {
      resolution: request.resolution,
      ...(hasRatio ? { ratio: request.aspect_ratio } : {}),
      ...(kind === 'video_edit' ? {} : { duration: request.duration }),
      watermark: request.watermark,
    },
  }
}

function p1Media(kind: P1Kind, { image_urls, video_urls }: SubmitCommand['request']): readonly P1Media[] {
  const images = (type: P1Media['type']) => image_urls.map((url): P1Media => ({ type, url }))
  switch (kind) {
    case 'text_to_video':
      return []
    case 'image_to_video':
      return images('first_frame')
    case 'reference_to_video':
      return images('reference_image')
    case 'video_edit':
      return [...video_urls.map((url): P1Media => ({ type: 'video', url })), ...images('reference_image')]
    default:
      return kind satisfies never
  }
}

const SUBMIT_PATH = '/api/v1/services/aigc/video-generation/video-synthesis'
const taskPath = (taskId: string) => `/api/v1/tasks/${encodeURIComponent(taskId)}`

/** The asynchronous task API of provider type P1. A PENDING task can be cancelled. */
export function createP1VideoProvider({
  channel,
  now = Date.now,
  ...dependencies
}: VideoProviderDependencies & { readonly channel: P1Channel }): VideoProvider {
  const call = createAccountCaller(channel.base_url, dependencies)
  return {
    async submit(command) {
      const outcome = await call({
        method: 'POST',
        path: SUBMIT_PATH,
        headers: { [channel.async_header]: 'enable' },
        body: p1RequestBody(command),
        limits: SUBMIT_LIMITS,
        readTaskId: p1TaskId,
      })
      return submitOutcome(outcome, p1TaskId, now())
    },
    async poll(taskId) {
      return p1PollOutcome(await call({ method: 'GET', path: taskPath(taskId), limits: POLL_LIMITS }))
    },
    async cancel(taskId) {
      return cancelOutcome(await call({ method: 'POST', path: `${taskPath(taskId)}/cancel`, limits: CANCEL_LIMITS }))
    },
  }
}
