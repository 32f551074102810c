import type { VideoModel } from '../catalogue/model.ts'
import { DURATION_SECONDS, RESOLUTIONS, type Resolution } from '../catalogue/parameters.ts'
import type { SchemaKit, SettingsOf } from '../catalogue/schema-parts.ts'
import {
  decimalText,
  fieldAt,
  nonBlank,
  reportedQuantity,
  secondsBetween,
  taskIdText,
  upstreamWords,
} from './reply-reading.ts'
import type { SubmitCommand, VideoProvider, VideoResult } from './video-provider.ts'

function settings({ headerName }: SchemaKit) {
  return {
    async_header: headerName.meta({
      description: 'The header that requests asynchronous mode; its value is always enable.',
    }),
  }
}

const taskPath = (taskId: string) => `/api/v1/tasks/${taskId}`

/** The asynchronous task API of P1. Its task query has status 200 for every state of a task, unknown ids included. */
export const p1 = {
  name: 'p1',
  settings,
  checksReferences: true,
  // The interval is the provider's advice, and does not change.
  polling: { first: 30, interval: 15, intervalFactorMax: 1 },
  submit: (command, { async_header }) => ({
    path: '/api/v1/services/aigc/video-generation/video-synthesis',
    headers: { [async_header]: 'enable' },
    body: requestBody(command),
  }),
  taskPath,
  // A PENDING task can be cancelled.
  cancel: (taskId) => ({ method: 'POST', path: `${taskPath(taskId)}/cancel` }),
  readTaskId: (body) => taskIdText(fieldAt(body, 'output', 'task_id')),
  statuses: {
    open: ['PENDING', 'RUNNING', 'SUSPENDED'],
    succeeded: ['SUCCEEDED'],
    failed: ['FAILED', 'CANCELED', 'CANCELLED'],
    gone: ['UNKNOWN'],
  },
  readStatus: (body) => nonBlank(fieldAt(body, 'output', 'task_status'))?.toUpperCase(),
  readFailure: (body, word) => {
    const said = [fieldAt(body, 'output', 'message'), fieldAt(body, 'output', 'code'), fieldAt(body, 'message')]
    const requestId = nonBlank(fieldAt(body, 'request_id'))
    const suffix = requestId === undefined ? '' : ` (request ${requestId})`
    return upstreamWords(said) ?? `the upstream reported ${word}${suffix}`
  },
  readResult,
  readPercent: () => undefined,
  readGenerationSeconds: (body) => secondsBetween(fieldAt(body, 'output')),
} as const satisfies VideoProvider<SettingsOf<typeof settings>>

function readResult(body: unknown): VideoResult {
  const usage = fieldAt(body, 'usage')
  return {
    videoUrl: nonBlank(fieldAt(body, 'output', 'video_url')),
    billableSeconds: reportedQuantity([fieldAt(usage, 'duration')]),
    outputSeconds: outputSeconds(usage),
    resolution: resolutionOfHeight(fieldAt(usage, 'SR')),
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
function kindOf(model: VideoModel): P1Kind {
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
function requestBody({ request, model, upstreamModelId }: SubmitCommand): object {
  const kind = kindOf(model)
  const media = mediaOf(kind, request)
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

function mediaOf(kind: P1Kind, { image_urls, video_urls }: SubmitCommand['request']): readonly P1Media[] {
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
