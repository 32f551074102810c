import type { VideoModel } from '../catalogue/model.ts'
import type { VideoPriceTier } from '../catalogue/video-price.ts'
import type { VideoJobRequest } from '../contract/video-parameters.ts'
import type { Microcredits } from './money.ts'
import { snapshotPrices } from './price-snapshot.ts'
import { type DecimalQuantity, videoCost, wholeQuantity } from './video-cost.ts'
import { completionTokensMax } from './video-tokens.ts'

/** The price tier that a request asks for. */
export function requestedTier(request: VideoJobRequest): VideoPriceTier {
  return {
    resolution: request.resolution,
    audio: request.generate_audio,
    videoInput: request.video_urls.length > 0,
  }
}

/**
 * What is locked when a job is created: an upper bound of what the same request can be billed,
 * from the widest frame of the tier and the longest input that the model takes.
 */
export function estimateVideoCost(request: VideoJobRequest, model: VideoModel): Microcredits {
  return videoCost(snapshotPrices(model), requestedTier(request), quantityMax(request, model))
}

function quantityMax(request: VideoJobRequest, model: VideoModel): DecimalQuantity {
  const outputSeconds = model.output_follows_input ? model.durations.max : request.duration
  const inputSeconds = request.video_urls.length > 0 ? model.input_video_seconds_max : 0
  switch (model.billing) {
    case 'token':
      return wholeQuantity(completionTokensMax(request.resolution, outputSeconds, inputSeconds))
    case 'per_second':
      return wholeQuantity(outputSeconds + inputSeconds)
    case 'per_request':
      return wholeQuantity(1)
    default:
      return model.billing satisfies never
  }
}
