import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChatModel } from '#core/catalogue/model.ts'
import {
  type CallEnd,
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

const BOUNDS: PromptBounds = { bodyBytes: 80, promptTokensMax: 80, outputTokensMax: 10, choices: 2, callsMax: 1 }
const LOCKED = 80n * 1_000n + 20n * 2_000n
const USAGE = tokenCounts({ input: 9, output: 3 })

const partial = (...calls: readonly [CallEnd['kind'], CallEnd['usage'], number][]): PromptEnd => ({
  kind: 'partial',
  calls: calls.map(([kind, usage, textBytes]) => ({ kind, usage, textBytes })),
})

const costOf = (...ends: readonly PromptEnd[]) =>
  completionCharge(
    chatModel(),
    ends.map((end) => ({ bounds: BOUNDS, end })),
  )

describe('completionChargeMax', () => {
  it('is the sum over the prompts', () => {
    expect(completionChargeMax(chatModel(), [BOUNDS]).amount).toBe(LOCKED)
    expect(completionChargeMax(chatModel(), [BOUNDS, BOUNDS, BOUNDS]).amount).toBe(3n * LOCKED)
  })

  it('holds the prompt once for each call that may be made for it, and the completions once', () => {
    expect(completionChargeMax(chatModel(), [{ ...BOUNDS, callsMax: 3 }]).amount).toBe(LOCKED + 2n * 80n * 1_000n)
  })

  it('is the fixed price once for each prompt, because each is a call', () => {
    const model = chatModel([{ price: '0.5' }])
    const prompts = [BOUNDS, BOUNDS]
    expect(completionChargeMax(model, prompts).amount).toBe(1_000_000n)
    const ends = prompts.map((bounds) => ({ bounds, end: { kind: 'whole', usage: USAGE } as const }))
    expect(completionCharge(model, ends)).toMatchObject({ amount: 1_000_000n, isEstimated: false })
  })
})

describe('completionCharge', () => {
  it.each<[string, PromptEnd, bigint, boolean]>([
    ['a prompt that no upstream has seen is free', { kind: 'unsent' }, 0n, false],
    ['an answer costs its usage', { kind: 'whole', usage: USAGE }, 15_000n, false],
    ['an answer without a usage costs its share', { kind: 'whole', usage: undefined }, LOCKED, true],
    ['a broken stream costs its usage', partial(['broken', USAGE, 0]), 15_000n, false],
    ['a stream that broke before its first word is free', partial(['broken', undefined, 0]), 0n, false],
    ['a broken stream costs its text', partial(['broken', undefined, 9]), 26_000n, true],
    ['an abandoned stream costs its usage', partial(['abandoned', USAGE, 9]), 15_000n, false],
    ['an abandoned stream is never free', partial(['abandoned', undefined, 0]), 20_000n, true],
    ['no text costs more than its share', partial(['broken', undefined, 10_000]), LOCKED, true],
    ['an answer that did not come costs its share', partial(['unread', undefined, 0]), LOCKED, true],
    ['a prompt of which no call came to anything is free', partial(), 0n, false],
    ['each call costs its usage', partial(['ended', USAGE, 1], ['ended', USAGE, 1]), 30_000n, false],
    [
      'a call that broke costs its text beside the usage of another',
      partial(['ended', USAGE, 1], ['broken', undefined, 9]),
      41_000n,
      true,
    ],
    [
      'a call that broke before its first word leaves the usage of another',
      partial(['ended', USAGE, 1], ['broken', undefined, 0]),
      15_000n,
      false,
    ],
    [
      'a reported usage above the share is not cut by what is estimated beside it',
      partial(['ended', tokenCounts({ input: 500, output: 0 }), 1], ['broken', undefined, 9]),
      500_000n,
      true,
    ],
  ])('%s', (_, end, amount, isEstimated) => {
    expect(costOf(end)).toMatchObject({ amount, isEstimated })
  })

  it('adds the prompts up, and says when one of them is estimated', () => {
    expect(
      costOf({ kind: 'whole', usage: USAGE }, { kind: 'unsent' }, { kind: 'whole', usage: undefined }),
    ).toMatchObject({
      amount: 15_000n + LOCKED,
      usage: { inputTokens: 89, outputTokens: 23 },
      isEstimated: true,
    })
  })

  it('never exceeds what was locked while no usage exceeds its bounds', () => {
    const bounds = { ...BOUNDS, callsMax: 3 }
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
    const end = fc.oneof(
      fc.constant<PromptEnd>({ kind: 'unsent' }),
      fc.record({ kind: fc.constant('whole' as const), usage: fc.option(usageWithin(80, 20), { nil: undefined }) }),
      fc.record({
        kind: fc.constant('partial' as const),
        calls: fc.array(
          fc.record({
            kind: fc.constantFrom('ended' as const, 'broken' as const, 'abandoned' as const, 'unread' as const),
            usage: fc.option(usageWithin(80, 6), { nil: undefined }),
            textBytes: fc.nat(10_000),
          }),
          { maxLength: 3 },
        ),
      }),
    )
    const prices = fc.constantFrom<ChatModel['prices']>(
      [{ input: '0.000333', output: '0.5' }],
      [{ input: '1000', output: '2000' }],
      [{ input: '3', output: '15', cached_input: '0.3', cache_write: '3.75', cache_write_1h: '6' }],
      [{ price: '0.5' }],
    )
    fc.assert(
      fc.property(fc.array(end, { maxLength: 8 }), prices, (ends, row) => {
        const model = chatModel(row)
        const { amount } = completionCharge(
          model,
          ends.map((each) => ({ bounds, end: each })),
        )
        const locked = completionChargeMax(
          model,
          ends.map(() => bounds),
        )
        expect(amount).toBeLessThanOrEqual(locked.amount)
      }),
    )
  })
})
