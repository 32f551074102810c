import { describe, expect, it } from '@jest/globals'
import { findImagePrice, imagePriceTiers } from '#core/catalogue/image-price.ts'

describe('findImagePrice', () => {
  const prices = [
    { size: '512x512', quality: 'hd', price: '3' },
    { size: '512x512', quality: 'any', price: '2' },
    { size: 'any', quality: 'standard', price: '1' },
  ]

  it.each([
    ['512x512', 'hd', '3'],
    ['512x512', 'standard', '2'],
    ['512x512', undefined, '2'],
    ['256x256', 'standard', '1'],
  ])('takes the first row that matches %s %s', (size, quality, price) => {
    expect(findImagePrice(prices, { size, quality })?.price).toBe(price)
  })

  it('is undefined for a tier without a row', () => {
    expect(findImagePrice(prices, { size: '256x256', quality: 'hd' })).toBeUndefined()
  })
})

describe('imagePriceTiers', () => {
  it('has every size at every quality, and each size once without qualities', () => {
    expect(imagePriceTiers({ sizes: ['1x1', '2x2'], qualities: ['standard', 'hd'] })).toHaveLength(4)
    expect(imagePriceTiers({ sizes: ['1x1'], qualities: [] })).toStrictEqual([{ size: '1x1', quality: undefined }])
  })
})
