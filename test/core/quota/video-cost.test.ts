import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Prices } from '#core/quota/price-snapshot.ts'
import { parseQuantity, videoCost, wholeQuantity } from '#core/quota/video-cost.ts'

const prices: Prices = {
  billing: 'token',
  prices: [{ resolution: 'any', audio: 'any', video_input: 'any', price: '4.30' }],
}

describe('videoCost', () => {
  it('grows with the quantity', () => {
    const tier = { resolution: '720P', audio: true, videoInput: false } as const
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)]
        return videoCost(prices, tier, wholeQuantity(less)) <= videoCost(prices, tier, wholeQuantity(more))
      }),
    )
  })
})

describe('parseQuantity', () => {
  it('is exact for every decimal text', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 999_999 }), (whole, millionths) => {
        const quantity = parseQuantity(`${whole}.${String(millionths).padStart(6, '0')}`)
        return quantity !== undefined && quantity.numerator === BigInt(whole) * 1_000_000n + BigInt(millionths)
      }),
    )
  })

  it.each([undefined, '', '-1', '1.', '.1', '1e3', '0x1', '1 ', '9'.repeat(16), `0.${'1'.repeat(21)}`])(
    'does not read %j',
    (text) => {
      expect(parseQuantity(text)).toBeUndefined()
    },
  )
})
