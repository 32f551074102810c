import { describe, expect, it } from '@jest/globals'
import { findImagePrice, findVideoPrice, imagePriceTiers } from '#core/catalogue/price-rows.ts'

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

describe('findVideoPrice', () => {
  const any = { resolution: 'any', audio: 'any', video_input: 'any' } as const
  const tier = { resolution: '720P', audio: false, videoInput: false } as const

  it('takes the first row that matches, and none when no row matches', () => {
    const rows = [
      { ...any, resolution: '1080P' as const, price: '1' },
      { ...any, audio: true, price: '2' },
      { ...any, video_input: true, price: '3' },
      { ...any, audio: false, price: '4' },
      { ...any, price: '5' },
    ]
    expect(findVideoPrice(rows, tier)?.price).toBe('4')
    expect(findVideoPrice(rows, { ...tier, resolution: '1080P' })?.price).toBe('1')
    expect(findVideoPrice(rows.slice(0, 3), tier)).toBeUndefined()
  })
})
