import { findImagePrice, type ImagePriceTier } from '../catalogue/image-price.ts'
import type { ImageModel } from '../catalogue/model.ts'
import type { ImageRequest } from '../contract/image-request.ts'
import { type Microcredits, parseCredits } from '../money/money.ts'
import { NoPriceError } from './video-cost.ts'

/** What billing needs of an image model. */
type ImagePrices = Pick<ImageModel, 'id' | 'billing' | 'prices'>

/**
 * The price of the tier for each image; or the fixed price of a request, whatever it made. No rounding.
 * @throws NoPriceError when no row matches the tier; a configuration with such a gap is refused at start.
 */
export function imageCost({ id, billing, prices }: ImagePrices, tier: ImagePriceTier, count: number): Microcredits {
  const row = findImagePrice(prices, tier)
  if (row === undefined) {
    throw new NoPriceError(`no price for ${id}, size ${tier.size}, quality ${tier.quality ?? 'none'}`)
  }
  const price = parseCredits(row.price)
  switch (billing) {
    case 'per_request':
      return price
    case 'per_image':
      return (price * BigInt(count)) as Microcredits
    default:
      return billing satisfies never
  }
}

/** What is locked before the call: every image that was asked for. */
export function imageCostMax(request: ImageRequest): Microcredits {
  return imageCost(request.model, request, request.count)
}

/**
 * What is billed for an answer: the images in it, never more than were asked for.
 * @param images as `readImageReply` counts them.
 */
export function settledImageCost(request: ImageRequest, images: number): Microcredits {
  return imageCost(request.model, request, Math.min(images, request.count))
}
