import type { VideoModel } from '../catalogue/model.ts'
import type { VideoPriceTier } from '../catalogue/price-rows.ts'
import type { VideoJobRequest } from '../parameters/video-parameters.ts'
import { type PriceLine, videoPriceLine } from './price-line.ts'
import { wholeQuantity } from './video-cost.ts'
import { longestQuantity } from './video-quantity.ts'

/** The price tier of a request. */
export function requestedTier(request: VideoJobRequest): VideoPriceTier {
  return {
    resolution: request.resolution,
    audio: request.generate_audio,
    videoInput: request.video_urls.length > 0,
  }
}

/**
 * What to reserve for a job, with quantity and unit price: an upper bound of its cost, computed from the widest frame of the tier and
 * the longest input that the model takes.
 */
export function estimateVideoLine(request: VideoJobRequest, model: VideoModel): PriceLine {
  const quantity = longestQuantity(model.billing, {
    outputSeconds: model.output_follows_input ? model.durations.max : request.duration,
    inputSeconds: request.video_urls.length > 0 ? model.input_video_seconds_max : 0,
    resolutions: [request.resolution],
  })
  return videoPriceLine(model, requestedTier(request), wholeQuantity(quantity))
}
