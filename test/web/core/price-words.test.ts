import { describe, expect, it } from 'vitest'
import { priceWords } from '#web/core/price-words.ts'

describe('priceWords', () => {
  it('says the price of a second with what it depends on', () => {
    const prices = [{ price: '0.14', resolution: '720P', audio: false, video_input: 'any' }]
    expect(priceWords({ billing: 'per_second', prices })).toEqual(['0.14 a second, 720P, without audio'])
  })

  it('says the prices of tokens in their order', () => {
    const prices = [{ output: '10', input: '2.5', cached_input: '1.25', cache_write: '3' }]
    expect(priceWords({ billing: 'token', prices })).toEqual(['2.5 in / 1.25 cached / 10 out a million tokens'])
  })

  it('has no word for a model without a price', () => {
    expect(priceWords({ billing: 'per_image', prices: [] })).toEqual([])
  })
})
