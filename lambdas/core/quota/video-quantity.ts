import type { VideoModel } from '../catalogue/model.ts'
import type { VideoPriceTier } from '../catalogue/video-price.ts'
import {
  DURATION_SECONDS,
  INPUT_VIDEO_SECONDS_MAX,
  RESOLUTIONS,
  type Resolution,
} from '../parameters/video-parameters.ts'
import { completionTokensMax } from './video-tokens.ts'

type Billing = VideoModel['billing']

/**
 * The most that one job of a model can be billed, in what its billing counts: its longest video in its widest frame, whatever
 * the request asked for, and the longest reference video where the job has one.
 */
export function videoQuantityMax(model: VideoModel, { videoInput }: Pick<VideoPriceTier, 'videoInput'>): number {
  return longestQuantity(model.billing, {
    outputSeconds: model.durations.max,
    inputSeconds: videoInput ? model.input_video_seconds_max : 0,
    resolutions: model.resolutions,
  })
}

/** The same for a job of which only the billing and the tier are known: the most that any model of the catalogue can make. */
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

/** What the longest video of these lengths and resolutions comes to: tokens, seconds or one request. */
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
