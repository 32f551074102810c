import type { VideoJobRequest } from '../parameters/video-parameters.ts'
import type { VideoModel } from './model.ts'
import type { FileLimits } from './reference-violation.ts'

/** A reference of a request that the model has limits for. */
export type LimitedReference = {
  /** Where it stands in the request: `image_urls[0]`. */
  readonly place: string
  /** A link, or `data:image/...;base64` with the image itself. */
  readonly url: string
  readonly limits: FileLimits
}

/** The references that can be held against limits of the model, in the order of the request; audio has none. */
export function limitedReferences(
  request: Pick<VideoJobRequest, 'image_urls' | 'video_urls'>,
  model: Pick<VideoModel, 'reference_limits' | 'input_video_seconds_max'>,
): readonly LimitedReference[] {
  const { images, videos } = model.reference_limits ?? {}
  const placed = (list: 'image_urls' | 'video_urls', limits: FileLimits | undefined) =>
    limits === undefined ? [] : request[list].map((url, index) => ({ place: `${list}[${index}]`, url, limits }))
  return [
    ...placed('image_urls', images),
    ...placed('video_urls', videos && { ...videos, secondsMax: model.input_video_seconds_max }),
  ]
}
