import type { VideoModel, VideoPrice } from '../catalogue/model.ts'
import type { VideoPriceTier } from '../catalogue/price-rows.ts'
import { videoQuantityMax } from './video-quantity.ts'

/**
 * All data of a model that billing needs, stored on the reservation when a job is created, so that a later change of the
 * configuration does not change the cost of a running job.
 */
export type PriceSnapshot = {
  readonly billing: VideoModel['billing']
  readonly prices: readonly VideoPrice[]
  /** Most tokens or seconds that are billed. */
  readonly quantityMax: number
}

/** What a price is computed from. */
export type Prices = Omit<PriceSnapshot, 'quantityMax'>

/** The current billing and prices of a model, and the bound of one job. */
export function snapshotPrices(model: VideoModel, tier: Pick<VideoPriceTier, 'videoInput'>): PriceSnapshot {
  return { billing: model.billing, prices: model.prices, quantityMax: videoQuantityMax(model, tier) }
}
