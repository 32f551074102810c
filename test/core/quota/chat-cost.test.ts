import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChatModel } from '#core/catalogue/model.ts'
import { formatCredits, microcredits } from '#core/money/money.ts'
import { type ChatCall, chatCharge, chatChargeMax, priceChatCalls } from '#core/quota/chat-cost.ts'
import { type CallEnd, countedUsage } from '#core/quota/counted-usage.ts'
import { type TokenCounts, tokenCounts } from '#core/quota/token-counts.ts'
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

  it('stands beside the usage that it is the price of', () => {
    expect(chatCharge(chatModel(), tokenCounts({ input: 9, output: 3 })).usage).toStrictEqual(
      countedUsage({ inputTokens: 9, outputTokens: 3 }),
    )
  })
})

/** A token in costs 1,000 millionths, a token out 2,000. */
const PRICED = chatModel([{ input: '1000', output: '2000' }])
const CALL: ChatCall = { promptTokensEstimate: 20, promptTokensMax: 80, outputTokensMax: 10, choices: 2 }
const RESERVED = 80n * 1_000n + 20n * 2_000n
const USAGE = tokenCounts({ input: 9, output: 3 })

const end = (how: CallEnd<TokenCounts>['how'], usage?: TokenCounts, textBytes = 0): CallEnd<TokenCounts> => ({
  how,
  usage,
  textBytes,
})

describe('chatChargeMax', () => {
  it('reserves the sum over the calls', () => {
    expect(chatChargeMax(PRICED, CALL).amount).toBe(RESERVED)
    expect(chatChargeMax(PRICED, CALL, CALL, CALL).amount).toBe(3n * RESERVED)
  })

  it('reserves and bills a fixed price once for each call', () => {
    const model = chatModel([{ price: '0.5' }])
    const calls = [CALL, CALL]
    expect(chatChargeMax(model, ...calls).amount).toBe(1_000_000n)
    const ends = [end('whole', USAGE), end('whole', USAGE)]
    expect(priceChatCalls(model, calls, ends)).toMatchObject({ charge: { amount: 1_000_000n }, isEstimated: false })
  })
})

describe('priceChatCalls', () => {
  it.each<[string, CallEnd<TokenCounts>, bigint, boolean]>([
    ['the usage of a reply', end('whole', USAGE), 15_000n, false],
    ['the share of a reply without a usage', end('whole'), RESERVED, true],
    ['the usage of a broken stream', end('broken', USAGE, 9), 15_000n, false],
    ['the text of a broken stream', end('broken', undefined, 9), 26_000n, true],
    ['the usage of an abandoned stream', end('abandoned', USAGE, 9), 15_000n, false],
    ['the prompt of an abandoned stream without text', end('abandoned'), 20_000n, true],
    ['the share at most for a long text', end('broken', undefined, 10_000), RESERVED, true],
    ['the share of a reply that did not arrive', end('unread'), RESERVED, true],
    ['the share of a reply that was cut', end('cut'), RESERVED, true],
    ['the usage of a reply that was cut', end('cut', USAGE), 15_000n, false],
    ['a reported usage above the share', end('whole', tokenCounts({ input: 500 })), 500_000n, false],
  ])('bills %s', (_, callEnd, amount, isEstimated) => {
    expect(priceChatCalls(PRICED, [CALL], [callEnd])).toMatchObject({ charge: { amount }, isEstimated })
  })

  it('bills nothing for a stream that broke before its first word, and for no call', () => {
    expect(priceChatCalls(PRICED, [CALL], [end('broken')])).toBeUndefined()
    expect(priceChatCalls(PRICED, [CALL], [])).toBeUndefined()
  })

  it('adds up the calls, leaves out those without an end, and says when one is estimated', () => {
    const ends = [end('whole', USAGE), end('whole')]
    expect(priceChatCalls(PRICED, [CALL, CALL, CALL], ends)).toMatchObject({
      charge: { amount: 15_000n + RESERVED, usage: { inputTokens: 89, outputTokens: 23 } },
      isEstimated: true,
      facts: undefined,
    })
  })

  it('rounds the sum of all calls once, and notes the sum of their tokens', () => {
    const model = chatModel([{ input: '0.4', output: '0.4' }])
    const calls = Array.from({ length: 10 }, () => CALL)
    const ends = calls.map(() => end('whole', tokenCounts({ input: 1 })))
    const priced = { charge: { amount: 4n }, facts: { inputTokens: 10, outputTokens: 0 } }
    expect(priceChatCalls(model, calls, ends)).toMatchObject(priced)
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
      how: fc.constantFrom<CallEnd<TokenCounts>['how'][]>('whole', 'broken', 'abandoned', 'unread', 'cut'),
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
        const calls = Array.from({ length: ends.length + unsent }, () => CALL)
        const amount = priceChatCalls(model, calls, ends)?.charge.amount ?? 0n
        expect(amount).toBeLessThanOrEqual(chatChargeMax(model, ...calls).amount)
      }),
    )
  })
})
