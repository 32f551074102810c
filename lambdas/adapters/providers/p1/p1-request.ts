import type { VideoModel } from '#core/catalogue/model.ts'
import type { SubmitCommand } from '../video/video-provider.ts'

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
