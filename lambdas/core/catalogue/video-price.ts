import type { Resolution } from '../parameters/video-parameters.ts'
import type { VideoPrice } from './model.ts'

/** What decides the price row of a video: asked for at creation, reported by the upstream at settlement. */
export type VideoPriceTier = { readonly resolution: Resolution; readonly audio: boolean; readonly videoInput: boolean }

/** The first row that matches the tier; rows hold `any` where a dimension does not count. */
export function findVideoPrice(prices: readonly VideoPrice[], tier: VideoPriceTier): VideoPrice | undefined {
  return prices.find(
    (row) =>
      (row.resolution === 'any' || row.resolution === tier.resolution) &&
      (row.audio === 'any' || row.audio === tier.audio) &&
      (row.video_input === 'any' || row.video_input === tier.videoInput),
  )
}
