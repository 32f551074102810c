import type { Resolution } from '../parameters/video-parameters.ts'
import type { VideoPrice } from './model.ts'

/** What selects the price row of a video: the request at creation, the upstream's report at settlement. */
export type VideoPriceTier = { readonly resolution: Resolution; readonly audio: boolean; readonly videoInput: boolean }

/** The first row that matches the tier; `any` matches every value. */
export function findVideoPrice(prices: readonly VideoPrice[], tier: VideoPriceTier): VideoPrice | undefined {
  return prices.find(
    (row) =>
      (row.resolution === 'any' || row.resolution === tier.resolution) &&
      (row.audio === 'any' || row.audio === tier.audio) &&
      (row.video_input === 'any' || row.video_input === tier.videoInput),
  )
}
