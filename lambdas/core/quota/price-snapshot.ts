import type { VideoModel, VideoPrice } from '../catalogue/model.ts'

/**
 * Everything of a model that billing needs, frozen on the reservation when a job is created:
 * a later change of the configuration never changes what a running job costs.
 */
export type PriceSnapshot = {
  readonly billing: VideoModel['billing']
  readonly prices: readonly VideoPrice[]
}

/** The billing and prices of a model as they are now. */
export function snapshotPrices(model: VideoModel): PriceSnapshot {
  return { billing: model.billing, prices: model.prices }
}
