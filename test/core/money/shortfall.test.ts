import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Microcredits, microcredits } from '#core/money/money.ts'
import { affordableCount } from '#core/money/shortfall.ts'
import { chatChargeMax } from '#core/quota/chat-cost.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'

describe('what a balance covers', () => {
  it('is the most output of a chat whose bound it holds: one token more would be too dear', () => {
    const model = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })
    if (model === undefined) {
      throw new TypeError('there is no chat model')
    }
    const numbers = { min: 1, max: 20_000 }
    fc.assert(
      fc.property(fc.integer(numbers), fc.integer({ min: 1, max: 8 }), fc.integer(numbers), (prompt, choices, have) => {
        const costOf = (outputTokensMax: number): Microcredits =>
          chatChargeMax(model, { promptTokensMax: prompt, choices, outputTokensMax }).amount
        const available = microcredits(have)
        const count = affordableCount(available, { most: model.max_output_tokens, costOf })
        expect(count === 0 || costOf(count) <= available).toBe(true)
        expect(count === model.max_output_tokens || costOf(count + 1) > available).toBe(true)
      }),
    )
  })

  it('is nothing where the balance is below zero', () => {
    expect(affordableCount(microcredits(-1), { most: 10, costOf: (count) => microcredits(count) })).toBe(0)
  })
})
