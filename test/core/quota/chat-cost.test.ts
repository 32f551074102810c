import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { ChatModel } from '#core/catalogue/model.ts'
import { brokenStreamCost, chatCost, chatCostMax } from '#core/quota/chat-cost.ts'
import { microcredits } from '#core/quota/money.ts'
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
    [3, 0n],
    [4, 1n],
  ])('rounds half up once at the end: %i tokens at 0.15 are %s millionths', (promptTokens, expected) => {
    expect(chatCost(chatModel(), { promptTokens, completionTokens: 0 })).toBe(expected)
  })

  it('adds input and output before it rounds', () => {
    expect(chatCost(chatModel(), { promptTokens: 2, completionTokens: 1 })).toBe(1n)
  })

  it('is the fixed price where a model is billed by request', () => {
    expect(chatCost(chatModel([{ price: '0.25' }]), { promptTokens: 9, completionTokens: 9 })).toBe(250_000n)
  })

  it('never exceeds the bound that was locked, for any usage within the bounds', () => {
    const tokens = fc.nat(200_000)
    fc.assert(
      fc.property(tokens, tokens, fc.integer({ min: 1, max: 128 }), (promptTokensMax, outputTokensMax, choices) => {
        const most = { promptTokens: promptTokensMax, completionTokens: outputTokensMax * choices }
        const locked = chatCostMax(chatModel(), { promptTokensMax, outputTokensMax, choices })
        // Nothing is never locked: a request that may come to nothing still holds a millionth.
        const cost = chatCost(chatModel(), most)
        expect(locked).toBe(cost === 0n ? 1n : cost)
        const less = { promptTokens: Math.trunc(promptTokensMax / 2), completionTokens: outputTokensMax }
        expect(chatCost(chatModel(), less) <= locked).toBe(true)
      }),
    )
  })

  it('bills a broken stream for what was relayed, and never above what was locked', () => {
    const bytes = { bodyBytes: 400, relayedTextBytes: 4_000 }
    expect(brokenStreamCost(chatModel(), { ...bytes, locked: microcredits(1_000_000) })).toBe(615n)
    expect(brokenStreamCost(chatModel(), { ...bytes, locked: microcredits(100) })).toBe(100n)
  })
})
