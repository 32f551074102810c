import { describe, expect, it } from 'vitest'
import { parseCredits } from '#core/money/money.ts'
import { priceLineView, videoPriceLine } from '#core/quota/price-line.ts'
import type { PriceSnapshot } from '#core/quota/price-snapshot.ts'
import { parseQuantity, wholeQuantity } from '#core/quota/video-cost.ts'

const tier = { resolution: '720P', audio: true, videoInput: false } as const
const row = { resolution: 'any', audio: 'any', video_input: 'any', price: '0.140' } as const
const seconds = (text: string) => parseQuantity(text) ?? wholeQuantity(0)

function line(
  billing: PriceSnapshot['billing'],
  quantity = wholeQuantity(1),
  price: Partial<PriceSnapshot['prices'][number]> = {},
) {
  return priceLineView(videoPriceLine({ billing, prices: [{ ...row, ...price }] }, tier, quantity))
}

describe('videoPriceLine', () => {
  it('shows seconds to the last digit, and the unit price without trailing zeros', () => {
    expect(line('per_second', seconds('5.040'))).toEqual({
      what: 'video',
      quantity: '5.04',
      unit: 'second',
      unit_price: '0.14',
      amount: '0.7056',
    })
    expect(line('per_second', wholeQuantity(10)).quantity).toBe('10')
    expect(line('per_second', seconds('0.5')).quantity).toBe('0.5')
  })

  it('shows tokens in the unit of their price', () => {
    const tokens = (count: number) => line('token', wholeQuantity(count), { price: '70' })
    expect(tokens(108_900)).toMatchObject({ quantity: '0.1089', unit: 'million tokens', amount: '7.623' })
    expect(tokens(2_000_000)).toMatchObject({ quantity: '2', amount: '140' })
    expect(tokens(7)).toMatchObject({ quantity: '0.000007', amount: '0.00049' })
  })

  it('shows one request whatever the quantity', () => {
    expect(line('per_request', wholeQuantity(9))).toMatchObject({ quantity: '1', unit: 'request', amount: '0.14' })
  })

  it('names the parts of the tier that the price depends on', () => {
    const { what } = line('per_second', wholeQuantity(1), { resolution: '720P', audio: true, video_input: false })
    expect(what).toBe('video, 720P, with audio, without video input')
  })

  it('rounds the product half up to a millionth', () => {
    const { quantity, unitPrice, amount } = videoPriceLine(
      { billing: 'per_second', prices: [{ ...row, price: '0.000003' }] },
      tier,
      seconds('0.5'),
    )
    expect([quantity, unitPrice, amount]).toEqual(['0.5', '0.000003', parseCredits('0.000002')])
  })
})
