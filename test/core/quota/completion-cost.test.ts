import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChatModel } from '#core/catalogue/model.ts'
import {
  completionCharge,
  completionChargeMax,
  type PromptBounds,
  type PromptEnd,
} from '#core/quota/completion-cost.ts'
import { tokenCounts } from '#core/quota/token-counts.ts'
import { boundTokenCounts } from '#core/quota/usage-bounds.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'

/** A token in costs 1,000 millionths, a token out 2,000. */
function chatModel(prices: ChatModel['prices'] = [{ input: '1000', output: '2000' }]): ChatModel {
  const model = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })
  if (model === undefined) {
    throw new TypeError('the shipped configuration has no chat model')
  }
  return { ...model, prices }
}

const BOUNDS: PromptBounds = { bodyBytes: 80, promptTokensMax: 80, outputTokensMax: 10, choices: 2 }
const RESERVED = 80n * 1_000n + 20n * 2_000n
const USAGE = tokenCounts({ input: 9, output: 3 })

const end = (kind: PromptEnd['kind'], usage?: PromptEnd['usage'], textBytes = 0): PromptEnd => ({
  kind,
  usage,
  textBytes,
})

describe('completionChargeMax', () => {
  it('reserves the sum over the prompts', () => {
    expect(completionChargeMax(chatModel(), [BOUNDS]).amount).toBe(RESERVED)
    expect(completionChargeMax(chatModel(), [BOUNDS, BOUNDS, BOUNDS]).amount).toBe(3n * RESERVED)
  })

  it('reserves and bills a fixed price once for each prompt, because each is a call', () => {
    const model = chatModel([{ price: '0.5' }])
    const prompts = [BOUNDS, BOUNDS]
    expect(completionChargeMax(model, prompts).amount).toBe(1_000_000n)
    const ends = [end('whole', USAGE), end('whole', USAGE)]
    expect(completionCharge(model, prompts, ends)).toMatchObject({ amount: 1_000_000n, isEstimated: false })
  })
})

describe('completionCharge', () => {
  it.each<[string, PromptEnd, bigint, boolean]>([
    ['the usage of a reply', end('whole', USAGE), 15_000n, false],
    ['the share of a reply without a usage', end('whole'), RESERVED, true],
    ['the usage of a broken stream', end('broken', USAGE, 9), 15_000n, false],
    ['nothing for a stream that broke before its first word', end('broken'), 0n, false],
    ['the text of a broken stream', end('broken', undefined, 9), 26_000n, true],
    ['the usage of an abandoned stream', end('abandoned', USAGE, 9), 15_000n, false],
    ['the prompt of an abandoned stream without text', end('abandoned'), 20_000n, true],
    ['the share at most for a long text', end('broken', undefined, 10_000), RESERVED, true],
    ['the share of a reply that did not arrive', end('unread'), RESERVED, true],
    ['the share of a reply that was cut', end('cut'), RESERVED, true],
    ['the usage of a reply that was cut', end('cut', USAGE), 15_000n, false],
    ['a reported usage above the share', end('whole', tokenCounts({ input: 500 })), 500_000n, false],
  ])('bills %s', (_, promptEnd, amount, isEstimated) => {
    expect(completionCharge(chatModel(), [BOUNDS], [promptEnd])).toMatchObject({ amount, isEstimated })
  })

  it('adds up the prompts, leaves out those without an end, and says when one is estimated', () => {
    const ends = [end('whole', USAGE), end('whole')]
    expect(completionCharge(chatModel(), [BOUNDS, BOUNDS, BOUNDS], ends)).toMatchObject({
      amount: 15_000n + RESERVED,
      usage: { inputTokens: 89, outputTokens: 23 },
      isEstimated: true,
    })
  })

  it('rounds the sum of all prompts once', () => {
    const model = chatModel([{ input: '0.4', output: '0.4' }])
    const prompts = Array.from({ length: 10 }, () => BOUNDS)
    const ends = prompts.map(() => end('whole', tokenCounts({ input: 1 })))
    expect(completionCharge(model, prompts, ends).amount).toBe(4n)
  })

  it('never bills more than was reserved while no usage exceeds its bounds', () => {
    const usageWithin = (input: number, output: number) =>
      fc
        .record({
          input: fc.nat(input),
          cachedInput: fc.nat(input),
          cachedInputExplicit: fc.nat(input),
          cacheWrite: fc.nat(input),
          cacheWrite1h: fc.nat(input),
          output: fc.nat(output),
        })
        .map((counts) => boundTokenCounts(counts, { input, output }))
    const anyEnd = fc.record({
      kind: fc.constantFrom<PromptEnd['kind'][]>('whole', 'broken', 'abandoned', 'unread', 'cut'),
      usage: fc.option(usageWithin(80, 20), { nil: undefined }),
      textBytes: fc.nat(10_000),
    })
    const prices = fc.constantFrom<ChatModel['prices'][]>(
      [{ input: '0.000333', output: '0.5' }],
      [{ input: '1000', output: '2000' }],
      [{ input: '3', output: '15', cached_input: '0.3', cache_write: '3.75', cache_write_1h: '6' }],
      [{ price: '0.5' }],
    )
    fc.assert(
      fc.property(fc.array(anyEnd, { maxLength: 8 }), fc.nat(3), prices, (ends, unsent, row) => {
        const model = chatModel(row)
        const prompts = Array.from({ length: ends.length + unsent }, () => BOUNDS)
        const { amount } = completionCharge(model, prompts, ends)
        expect(amount).toBeLessThanOrEqual(completionChargeMax(model, prompts).amount)
      }),
    )
  })
})
