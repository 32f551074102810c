import { describe, expect, it } from 'vitest'
import type { ImageModel } from '#core/catalogue/model.ts'
import { imagePriceTiers } from '#core/catalogue/price-rows.ts'
import { parseImageRequest } from '#core/contract/image-request.ts'
import { formatCredits } from '#core/money/money.ts'
import { countedUsage } from '#core/quota/counted-usage.ts'
import { imageCharge, imageChargeMax, imageCost } from '#core/quota/image-cost.ts'
import { NoPriceError } from '#core/quota/video-cost.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'

function model(id: string): ImageModel {
  const found = shippedCatalogue.findRelayModel(id, { kind: 'image', allowed: null })
  if (found === undefined) {
    throw new RangeError(`no model ${id}`)
  }
  return found
}

const request = (members: object) =>
  parseImageRequest(
    { model: 'image-v2', prompt: 'a fox', ...members },
    { catalogue: shippedCatalogue, allowedModels: null },
  )

describe('the cost of images', () => {
  it.each([
    ['image-v3', '1024x1024', 'standard', '0.04'],
    ['image-v3', '1024x1024', 'hd', '0.08'],
    ['image-v3', '1792x1024', 'standard', '0.08'],
    ['image-v3', '1024x1792', 'hd', '0.12'],
    ['image-v2', '256x256', undefined, '0.016'],
    ['image-v2', '512x512', undefined, '0.018'],
    ['image-v2', '1024x1024', undefined, '0.02'],
  ])('of %s in %s at quality %p is %s each', (id, size, quality, price) => {
    expect(formatCredits(imageCost(model(id), { size, quality }, 1))).toBe(price)
  })

  it('is the price times their number', () => {
    expect(formatCredits(imageCost(model('image-v2'), { size: '256x256', quality: undefined }, 10))).toBe('0.16')
    expect(imageCost(model('image-v2'), { size: '256x256', quality: undefined }, 0)).toBe(0n)
  })

  it('of a request is its price, however many there are', () => {
    const perRequest = { ...model('image-v2'), billing: 'per_request' } as const
    for (const count of [0, 1, 10]) {
      expect(formatCredits(imageCost(perRequest, { size: '256x256', quality: undefined }, count))).toBe('0.016')
    }
  })

  it('has no price for a tier without a row', () => {
    expect(() => imageCost(model('image-v2'), { size: '64x64', quality: undefined }, 1)).toThrow(NoPriceError)
    const onlyHd = { ...model('image-v3'), prices: [{ size: 'any', quality: 'hd', price: '1' }] }
    expect(() => imageCost(onlyHd, { size: '1024x1024', quality: undefined }, 1)).toThrow(NoPriceError)
  })

  it.each(['image-v3', 'image-v2'])('of %s has a price above nothing for every cell', (id) => {
    const tiers = imagePriceTiers(model(id))
    expect(tiers).toHaveLength(id === 'image-v3' ? 6 : 3)
    for (const tier of tiers) {
      expect(imageCost(model(id), tier, 1)).toBeGreaterThan(0n)
    }
  })
})

describe('a request for images', () => {
  it('locks the price of all that were asked for', () => {
    expect(formatCredits(imageChargeMax(request({ n: 3, size: '512x512' })).amount)).toBe('0.054')
    expect(formatCredits(imageChargeMax(request({ model: 'image-v3', quality: 'hd' })).amount)).toBe('0.08')
  })

  it.each([
    ['the images that came', 2, '0.036'],
    ['no more than were asked for', 7, '0.054'],
  ])('is billed %s', (_, images, amount) => {
    const charge = imageCharge(request({ n: 3, size: '512x512' }), images)
    expect(formatCredits(charge.amount)).toBe(amount)
    expect(charge.usage).toStrictEqual(countedUsage({ images: Math.min(images, 3) }))
  })
})
