import type { ImageModel, VideoPrice } from './model.ts'
import type { Resolution } from './parameters.ts'

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

/** What selects the price row of an image. `quality` is undefined for a model without qualities. */
export type ImagePriceTier = { readonly size: string; readonly quality: string | undefined }

/** The first row that matches the tier; `any` matches every value. */
export function findImagePrice(
  prices: ImageModel['prices'],
  { size, quality }: ImagePriceTier,
): ImageModel['prices'][number] | undefined {
  return prices.find(
    (row) => (row.size === 'any' || row.size === size) && (row.quality === 'any' || row.quality === quality),
  )
}

/** Every tier of a model: the cells of its price table. */
export function imagePriceTiers({ sizes, qualities }: Pick<ImageModel, 'sizes' | 'qualities'>): ImagePriceTier[] {
  const offered = qualities.length === 0 ? [undefined] : qualities
  return sizes.flatMap((size) => offered.map((quality) => ({ size, quality })))
}
