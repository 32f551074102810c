import { describe, expect, it } from 'vitest'
import { microcredits } from '#core/money/money.ts'
import { costHeaders } from '#lambdas/relay/cost-headers.ts'

describe('costHeaders', () => {
  it.each([
    [5_195, '0.005195'],
    [1_000_000, '1'],
    [0, '0'],
  ])('has %d millionths of a credit as %s', (amount, cost) => {
    expect(costHeaders(microcredits(amount))).toStrictEqual({ 'x-reelgate-cost': cost })
  })

  it('is empty where nothing is billed', () => {
    expect(costHeaders(undefined)).toStrictEqual({})
  })
})
