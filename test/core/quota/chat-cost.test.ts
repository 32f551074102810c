import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChatModel } from '#core/catalogue/model.ts'
import { formatCredits, microcredits } from '#core/money/money.ts'
import { brokenStreamCharge, chatCharge, chatChargeMax } from '#core/quota/chat-cost.ts'
import { countedUsage } from '#core/quota/counted-usage.ts'
import { tokenCounts } from '#core/quota/token-counts.ts'
import { boundTokenCounts } from '#core/quota/usage-bounds.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'

function chatModel(prices?: ChatModel['prices']): ChatModel {
  const model = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })
  if (model === undefined) {
    throw new TypeError('the shipped configuration has no chat model')
  }
  return prices === undefined ? model : { ...model, prices }
}

describe('chatCharge', () => {
  it('is tokens times prices, input and output', () => {
    expect(chatCharge(chatModel(), tokenCounts({ input: 1_000_000, output: 2_000_000 })).amount).toBe(1_350_000n)
  })

  it.each([
    [9, 1n],
    [10, 2n],
  ])('rounds half up once at the end: %i tokens at 0.15 are %s millionths', (input, expected) => {
    expect(chatCharge(chatModel(), tokenCounts({ input })).amount).toBe(expected)
  })

  it('adds input and output before it rounds', () => {
    expect(chatCharge(chatModel(), tokenCounts({ input: 2, output: 1 })).amount).toBe(1n)
  })

  it.each([0, 1, 3])('is a millionth of a credit at least where there is a price (%d tokens in)', (input) => {
    expect(chatCharge(chatModel(), tokenCounts({ input })).amount).toBe(1n)
  })

  it('is nothing where every price is nothing', () => {
    const free = chatModel([{ input: '0', output: '0' }])
    expect(chatCharge(free, tokenCounts({ input: 1_000, output: 1_000 })).amount).toBe(0n)
    expect(chatChargeMax(free, { promptTokensMax: 1_000, outputTokensMax: 1_000, choices: 1 }).amount).toBe(0n)
    expect(chatCharge(chatModel([{ price: '0' }]), tokenCounts({ input: 1_000, output: 1_000 })).amount).toBe(0n)
  })

  it('is the fixed price where a model is billed by request', () => {
    expect(chatCharge(chatModel([{ price: '0.25' }]), tokenCounts({ input: 9, output: 9 })).amount).toBe(250_000n)
  })

  it('never exceeds the bound that was reserved, for any usage within the bounds', () => {
    const tokens = fc.nat(200_000)
    const price = fc.nat(20_000_000).map((amount) => formatCredits(microcredits(amount)))
    const prices = fc.record(
      {
        input: price,
        output: price,
        cached_input: price,
        cached_input_explicit: price,
        cache_write: price,
        cache_write_1h: price,
      },
      { requiredKeys: ['input', 'output'] },
    )
    const parts = fc.record({
      input: tokens,
      cachedInput: tokens,
      cachedInputExplicit: tokens,
      cacheWrite: tokens,
      cacheWrite1h: tokens,
      output: fc.nat(20_000_000),
    })
    fc.assert(
      fc.property(
        prices,
        parts,
        fc.record({ promptTokensMax: tokens, outputTokensMax: tokens, choices: fc.integer({ min: 1, max: 128 }) }),
        (row, counts, bounds) => {
          const model = chatModel([row])
          const { promptTokensMax, outputTokensMax, choices } = bounds
          const bounded = boundTokenCounts(counts, { input: promptTokensMax, output: outputTokensMax * choices })
          const reserved = chatChargeMax(model, bounds)
          expect(chatCharge(model, bounded).amount).toBeLessThanOrEqual(reserved.amount)
          expect(reserved.usage).toMatchObject({
            inputTokens: promptTokensMax,
            outputTokens: outputTokensMax * choices,
          })
        },
      ),
    )
  })

  it.each([
    ['input', { input: '9', output: '1', cached_input: '0.9', cache_write: '8' }, 9n],
    ['cached_input', { input: '2', output: '1', cached_input: '9' }, 9n],
    ['cached_input_explicit', { input: '2', output: '1', cached_input_explicit: '9' }, 9n],
    ['cache_write', { input: '2', output: '1', cache_write: '9' }, 9n],
    ['cache_write_1h', { input: '2', output: '1', cache_write: '2.5', cache_write_1h: '9' }, 9n],
  ] as const)('reserves all input at the highest rate: %s', (_, row, rate) => {
    const bounds = { promptTokensMax: 1_000, outputTokensMax: 0, choices: 1 }
    expect(chatChargeMax(chatModel([row]), bounds).amount).toBe(1_000n * rate)
  })

  it('bills a broken stream for what was relayed, and never above what was locked', () => {
    const part = { promptTokens: 100, relayedTextBytes: 4_000 }
    const estimate = (amount: number) => ({ amount: microcredits(amount), usage: countedUsage({ outputTokens: 9 }) })
    const charge = { amount: 615n, usage: countedUsage({ inputTokens: 100, outputTokens: 1_000 }) }
    expect(brokenStreamCharge(chatModel(), { ...part, estimate: estimate(1_000_000) })).toStrictEqual(charge)
    expect(brokenStreamCharge(chatModel(), { ...part, estimate: estimate(100) })).toStrictEqual(estimate(100))
  })

  it('stands beside the usage that it is the price of', () => {
    expect(chatCharge(chatModel(), tokenCounts({ input: 9, output: 3 })).usage).toStrictEqual(
      countedUsage({ inputTokens: 9, outputTokens: 3 }),
    )
  })
})
