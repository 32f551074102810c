import type { VideoModel, VideoPrice } from '../catalogue/model.ts'
import type { VideoPriceTier } from '../catalogue/video-price.ts'
import { videoQuantityMax } from './video-quantity.ts'

/**
 * Everything of a model that billing needs, frozen on the reservation when a job is created:
 * a later change of the configuration never changes what a running job costs.
 */
export type PriceSnapshot = {
  readonly billing: VideoModel['billing']
  readonly prices: readonly VideoPrice[]
  /** The most tokens or seconds that are billed. Reservations from before it was kept have none. */
  readonly quantityMax?: number | undefined
}

/** The billing and prices of a model as they are now, and how much of it one job can use. */
export function snapshotPrices(model: VideoModel, tier: Pick<VideoPriceTier, 'videoInput'>): PriceSnapshot {
  return { billing: model.billing, prices: model.prices, quantityMax: videoQuantityMax(model, tier) }
}
