import type { VideoJobRequest } from '../parameters/video-parameters.ts'
import type { VideoModel } from './model.ts'
import type { FileLimits } from './reference-violation.ts'

/** A reference for which the model has limits. */
export type LimitedReference = {
  /** Its place in the request: `image_urls[0]`. */
  readonly place: string
  /** A link, or the image itself as `data:image/...;base64`. */
  readonly url: string
  readonly limits: FileLimits
}

/** The references for which the model has limits, in the order of the request. There are no limits for audio. */
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
