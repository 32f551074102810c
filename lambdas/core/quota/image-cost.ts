import type { ImageModel } from '../catalogue/model.ts'
import { findImagePrice, type ImagePriceTier } from '../catalogue/price-rows.ts'
import type { ImageRequest } from '../contract/image-request.ts'
import { type Microcredits, parseCredits } from '../money/money.ts'
import { type Charge, countedUsage } from './counted-usage.ts'
import { NoPriceError } from './video-cost.ts'

/** The fields of an image model that billing needs. */
type ImagePrices = Pick<ImageModel, 'id' | 'billing' | 'prices'>

/**
 * The price of the tier per image, or the fixed price of a request. Nothing is rounded.
 * @throws NoPriceError if no row matches the tier; the start refuses a configuration with such a gap.
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

/** What to reserve before the call: the price of all requested images. */
export function imageChargeMax(request: ImageRequest): Charge {
  return imageCharge(request, request.count)
}

/**
 * What is billed for a response: its images, never more than were asked for.
 * @param images as `readImageReply` counts them.
 */
export function imageCharge(request: ImageRequest, images: number): Charge {
  const count = Math.min(images, request.count)
  return { amount: imageCost(request.model, request, count), usage: countedUsage({ images: count }) }
}
