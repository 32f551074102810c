import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { ChatModel } from '#core/catalogue/model.ts'
import { microcredits } from '#core/money/money.ts'
import { brokenStreamCharge, chatCharge, chatChargeMax, chatCost } from '#core/quota/chat-cost.ts'
import { countedUsage } from '#core/quota/counted-usage.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'

function chatModel(prices?: ChatModel['prices']): ChatModel {
  const model = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })
  if (model === undefined) {
    throw new TypeError('the shipped configuration has no chat model')
  }
  return prices === undefined ? model : { ...model, prices }
}

describe('chatCost', () => {
  it('is tokens times prices, input and output', () => {
    expect(chatCost(chatModel(), { promptTokens: 1_000_000, completionTokens: 2_000_000 })).toBe(1_350_000n)
  })

  it.each([
    [9, 1n],
    [10, 2n],
  ])('rounds half up once at the end: %i tokens at 0.15 are %s millionths', (promptTokens, expected) => {
    expect(chatCost(chatModel(), { promptTokens, completionTokens: 0 })).toBe(expected)
  })

  it('adds input and output before it rounds', () => {
    expect(chatCost(chatModel(), { promptTokens: 2, completionTokens: 1 })).toBe(1n)
  })

  it.each([0, 1, 3])('is a millionth of a credit at least where there is a price (%d tokens in)', (promptTokens) => {
    expect(chatCost(chatModel(), { promptTokens, completionTokens: 0 })).toBe(1n)
  })

  it('is nothing where every price is nothing', () => {
    const free = chatModel([{ input_per_million: '0', output_per_million: '0' }])
    expect(chatCost(free, { promptTokens: 1_000, completionTokens: 1_000 })).toBe(0n)
    expect(chatChargeMax(free, { promptTokensMax: 1_000, outputTokensMax: 1_000, choices: 1 }).amount).toBe(0n)
    expect(chatCost(chatModel([{ price: '0' }]), { promptTokens: 1_000, completionTokens: 1_000 })).toBe(0n)
  })

  it('is the fixed price where a model is billed by request', () => {
    expect(chatCost(chatModel([{ price: '0.25' }]), { promptTokens: 9, completionTokens: 9 })).toBe(250_000n)
  })

  it('never exceeds the bound that was locked, for any usage within the bounds', () => {
    const tokens = fc.nat(200_000)
    fc.assert(
      fc.property(tokens, tokens, fc.integer({ min: 1, max: 128 }), (promptTokensMax, outputTokensMax, choices) => {
        const most = { promptTokens: promptTokensMax, completionTokens: outputTokensMax * choices }
        const locked = chatChargeMax(chatModel(), { promptTokensMax, outputTokensMax, choices }).amount
        expect(locked).toBe(chatCost(chatModel(), most))
        const less = { promptTokens: Math.trunc(promptTokensMax / 2), completionTokens: outputTokensMax }
        expect(chatCost(chatModel(), less) <= locked).toBe(true)
      }),
    )
  })

  it('bills a broken stream for what was relayed, and never above what was locked', () => {
    const part = { promptTokens: 100, relayedTextBytes: 4_000 }
    const estimate = (amount: number) => ({ amount: microcredits(amount), usage: countedUsage({ outputTokens: 9 }) })
    const charge = { amount: 615n, usage: countedUsage({ inputTokens: 100, outputTokens: 1_000 }) }
    expect(brokenStreamCharge(chatModel(), { ...part, estimate: estimate(1_000_000) })).toStrictEqual(charge)
    expect(brokenStreamCharge(chatModel(), { ...part, estimate: estimate(100) })).toStrictEqual(estimate(100))
  })

  it('stands beside the usage that it is the price of', () => {
    expect(chatCharge(chatModel(), { promptTokens: 9, completionTokens: 3 }).usage).toStrictEqual(
      countedUsage({ inputTokens: 9, outputTokens: 3 }),
    )
  })
})
