import type { VideoModel } from '../catalogue/model.ts'
import type { VideoPriceTier } from '../catalogue/price-rows.ts'
import {
  DURATION_SECONDS,
  INPUT_VIDEO_SECONDS_MAX,
  RESOLUTIONS,
  type Resolution,
} from '../parameters/video-parameters.ts'
import { completionTokensMax } from './video-tokens.ts'

type Billing = VideoModel['billing']

/**
 * The largest billable quantity of one job of a model: its longest video in its widest frame, regardless of the request, and
 * the longest reference video if the job has one.
 */
export function videoQuantityMax(model: VideoModel, { videoInput }: Pick<VideoPriceTier, 'videoInput'>): number {
  return longestQuantity(model.billing, {
    outputSeconds: model.durations.max,
    inputSeconds: videoInput ? model.input_video_seconds_max : 0,
    resolutions: model.resolutions,
  })
}

/** The same for a job whose model is unknown: the bound of all models with this billing. */
export function anyVideoQuantityMax(billing: Billing, { videoInput }: Pick<VideoPriceTier, 'videoInput'>): number {
  return longestQuantity(billing, {
    outputSeconds: DURATION_SECONDS.max,
    inputSeconds: videoInput ? INPUT_VIDEO_SECONDS_MAX : 0,
    resolutions: RESOLUTIONS,
  })
}

type Longest = {
  readonly outputSeconds: number
  readonly inputSeconds: number
  readonly resolutions: readonly Resolution[]
}

/** The largest quantity for these lengths and resolutions: tokens, seconds or one request. */
export function longestQuantity(billing: Billing, { outputSeconds, inputSeconds, resolutions }: Longest): number {
  switch (billing) {
    case 'token':
      return Math.max(...resolutions.map((each) => completionTokensMax(each, outputSeconds, inputSeconds)))
    case 'per_second':
      return outputSeconds + inputSeconds
    case 'per_request':
      return 1
    default:
      return billing satisfies never
  }
}
