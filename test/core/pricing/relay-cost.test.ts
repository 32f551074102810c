import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { parseImageRequest } from '#core/api/image-request.ts'
import type { ChatModel, ImageModel, TokenPrices } from '#core/catalogue/model.ts'
import { imagePriceTiers } from '#core/catalogue/price-rows.ts'
import { formatCredits, microcredits } from '#core/money.ts'
import {
  embeddingBilling,
  embeddingChargeMax,
  embeddingCost,
  highestInputRate,
  imageBilling,
  imageChargeMax,
  imageCost,
  priceTokenCalls,
  ratedCounts,
  type TokenCall,
  tokenCharge,
  tokenChargeMax,
  tokenRates,
} from '#core/pricing/relay-cost.ts'
import { boundTokenCounts, readTokenUsage, type TokenCounts, tokenCounts } from '#core/pricing/token-usage.ts'
import { type CallEnd, countedUsage } from '#core/pricing/usage.ts'
import { NoPriceError } from '#core/pricing/video-cost.ts'
import { ChatStream } from '#lambdas/relay/protocols/chat-stream.ts'
import { rulesOf } from '../relay/reply-rules.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'

function chatModel(prices?: ChatModel['prices']): ChatModel {
  const model = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })
  if (model === undefined) {
    throw new TypeError('the shipped configuration has no chat model')
  }
  return prices === undefined ? model : { ...model, prices }
}

describe('tokenCharge', () => {
  it('is tokens times prices, input and output', () => {
    expect(tokenCharge(chatModel(), tokenCounts({ input: 1_000_000, output: 2_000_000 })).amount).toBe(1_350_000n)
  })

  it.each([
    [9, 1n],
    [10, 2n],
  ])('rounds half up once at the end: %i tokens at 0.15 are %s millionths', (input, expected) => {
    expect(tokenCharge(chatModel(), tokenCounts({ input })).amount).toBe(expected)
  })

  it('adds input and output before it rounds', () => {
    expect(tokenCharge(chatModel(), tokenCounts({ input: 2, output: 1 })).amount).toBe(1n)
  })

  it.each([0, 1, 3])('is a millionth of a credit at least where there is a price (%d tokens in)', (input) => {
    expect(tokenCharge(chatModel(), tokenCounts({ input })).amount).toBe(1n)
  })

  it('is nothing where every price is nothing', () => {
    const free = chatModel([{ input: '0', output: '0' }])
    expect(tokenCharge(free, tokenCounts({ input: 1_000, output: 1_000 })).amount).toBe(0n)
    expect(tokenChargeMax(free, { promptTokensMax: 1_000, outputTokensMax: 1_000, choices: 1 }).amount).toBe(0n)
    expect(tokenCharge(chatModel([{ price: '0' }]), tokenCounts({ input: 1_000, output: 1_000 })).amount).toBe(0n)
  })

  it('is the fixed price where a model is billed by request', () => {
    expect(tokenCharge(chatModel([{ price: '0.25' }]), tokenCounts({ input: 9, output: 9 })).amount).toBe(250_000n)
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
          const reserved = tokenChargeMax(model, bounds)
          expect(tokenCharge(model, bounded).amount).toBeLessThanOrEqual(reserved.amount)
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
    expect(tokenChargeMax(chatModel([row]), bounds).amount).toBe(1_000n * rate)
  })

  it('stands beside the usage that it is the price of', () => {
    expect(tokenCharge(chatModel(), tokenCounts({ input: 9, output: 3 })).usage).toStrictEqual(
      countedUsage({ inputTokens: 9, outputTokens: 3 }),
    )
  })
})

/** A token in costs 1,000 millionths, a token out 2,000. */
const PRICED = chatModel([{ input: '1000', output: '2000' }])
const CALL: TokenCall = { promptTokensEstimate: 20, promptTokensMax: 80, outputTokensMax: 10, choices: 2 }
const RESERVED = 80n * 1_000n + 20n * 2_000n
const USAGE = tokenCounts({ input: 9, output: 3 })

const end = (how: CallEnd<TokenCounts>['how'], usage?: TokenCounts, textBytes = 0): CallEnd<TokenCounts> => ({
  how,
  usage,
  textBytes,
})

describe('tokenChargeMax', () => {
  it('reserves the sum over the calls', () => {
    expect(tokenChargeMax(PRICED, CALL).amount).toBe(RESERVED)
    expect(tokenChargeMax(PRICED, CALL, CALL, CALL).amount).toBe(3n * RESERVED)
  })

  it('reserves and bills a fixed price once for each call', () => {
    const model = chatModel([{ price: '0.5' }])
    const calls = [CALL, CALL]
    expect(tokenChargeMax(model, ...calls).amount).toBe(1_000_000n)
    const ends = [end('whole', USAGE), end('whole', USAGE)]
    expect(priceTokenCalls(model, calls, ends)).toMatchObject({ charge: { amount: 1_000_000n }, isEstimated: false })
  })
})

describe('priceTokenCalls', () => {
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
    expect(priceTokenCalls(PRICED, [CALL], [callEnd])).toMatchObject({ charge: { amount }, isEstimated })
  })

  it('bills nothing for a stream that broke before its first word, and for no call', () => {
    expect(priceTokenCalls(PRICED, [CALL], [end('broken')])).toBeUndefined()
    expect(priceTokenCalls(PRICED, [CALL], [])).toBeUndefined()
  })

  it('adds up the calls, leaves out those without an end, and says when one is estimated', () => {
    const ends = [end('whole', USAGE), end('whole')]
    expect(priceTokenCalls(PRICED, [CALL, CALL, CALL], ends)).toMatchObject({
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
    expect(priceTokenCalls(model, calls, ends)).toMatchObject(priced)
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
        const amount = priceTokenCalls(model, calls, ends)?.charge.amount ?? 0n
        expect(amount).toBeLessThanOrEqual(tokenChargeMax(model, ...calls).amount)
      }),
    )
  })
})

const shipped = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })

/** The bill of a usage, in millionths of a credit. */
function billOf(usage: TokenCounts | undefined, prices: TokenPrices): bigint | undefined {
  return shipped && usage && tokenCharge({ ...shipped, prices: [prices] }, usage).amount
}

type WorkedBill = {
  readonly upstream: string
  readonly usage: object
  readonly prices: TokenPrices
  readonly bill: bigint
}

/** Bills that others got wrong, with the usage as the upstream reported it and its list prices per million tokens. */
const WORKED_BILLS: readonly WorkedBill[] = [
  {
    upstream: 'OpenAI, a chat with cached input',
    usage: {
      prompt_tokens: 2006,
      completion_tokens: 300,
      total_tokens: 2306,
      prompt_tokens_details: { cached_tokens: 1920 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    prices: { input: '2.5', cached_input: '0.25', output: '15' },
    bill: 5_195n,
  },
  {
    upstream: 'OpenAI, a response with cached input and a write',
    usage: {
      input_tokens: 172_000,
      input_tokens_details: { cached_tokens: 155_000, cache_write_tokens: 3_000 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 172_000,
    },
    prices: { input: '5', cached_input: '0.5', cache_write: '6.25', output: '20' },
    bill: 166_250n,
  },
  {
    upstream: 'Anthropic, a message with a write',
    usage: {
      input_tokens: 3,
      cache_creation_input_tokens: 12_304,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 12_304, ephemeral_1h_input_tokens: 0 },
      output_tokens: 550,
    },
    prices: { input: '3', cached_input: '0.3', cache_write: '3.75', output: '15' },
    bill: 54_399n,
  },
  {
    upstream: 'Anthropic, a stream of a message: the start, overwritten by the last delta',
    usage: {
      ...{ input_tokens: 4, cache_creation_input_tokens: 0, cache_read_input_tokens: 2_455, output_tokens: 1 },
      ...{ output_tokens: 23 },
    },
    prices: { input: '0.8', cached_input: '0.08', cache_write: '1', output: '4' },
    bill: 292n,
  },
  {
    upstream: 'Anthropic, a message with a write for an hour',
    usage: {
      input_tokens: 15,
      cache_creation_input_tokens: 4_803,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 4_803 },
      cache_read_input_tokens: 0,
      output_tokens: 47,
    },
    prices: { input: '3', cached_input: '0.3', cache_write: '3.75', cache_write_1h: '6', output: '15' },
    bill: 29_568n,
  },
  {
    upstream: 'Gemini',
    usage: {
      prompt_tokens: 262_960,
      completion_tokens: 1_744,
      total_tokens: 264_704,
      prompt_tokens_details: { cached_tokens: 257_955 },
    },
    prices: { input: '1.25', cached_input: '0.625', output: '10' },
    bill: 184_918n,
  },
  {
    upstream: 'DeepSeek',
    usage: {
      prompt_tokens: 102_056,
      completion_tokens: 252,
      total_tokens: 102_308,
      prompt_cache_hit_tokens: 94_464,
      prompt_cache_miss_tokens: 7_592,
    },
    prices: { input: '0.14', cached_input: '0.0028', output: '0.28' },
    bill: 1_398n,
  },
  {
    upstream: 'Qwen, an implicit cache',
    usage: {
      prompt_tokens: 10_000,
      completion_tokens: 500,
      total_tokens: 10_500,
      prompt_tokens_details: { cached_tokens: 5_000 },
    },
    prices: { input: '1.2', cached_input: '0.24', cached_input_explicit: '0.12', cache_write: '1.5', output: '6' },
    bill: 10_200n,
  },
  {
    upstream: 'Qwen, an explicit cache',
    usage: {
      prompt_tokens: 12_000,
      completion_tokens: 500,
      total_tokens: 12_500,
      prompt_tokens_details: {
        cached_tokens: 6_000,
        cache_creation_input_tokens: 4_000,
        cache_creation: { ephemeral_5m_input_tokens: 4_000 },
        cache_type: 'ephemeral',
      },
    },
    prices: { input: '1.2', cached_input: '0.24', cached_input_explicit: '0.12', cache_write: '1.5', output: '6' },
    bill: 12_120n,
  },
  {
    upstream: 'Kimi, a whole reply',
    usage: { prompt_tokens: 20_000, completion_tokens: 1_000, total_tokens: 21_000, cached_tokens: 18_000 },
    prices: { input: '0.95', cached_input: '0.16', output: '4' },
    bill: 8_780n,
  },
  {
    upstream: 'OpenRouter',
    usage: {
      prompt_tokens: 10_339,
      completion_tokens: 60,
      total_tokens: 10_399,
      cost: 0.0027056,
      prompt_tokens_details: { cached_tokens: 10_318, cache_write_tokens: 0 },
    },
    prices: { input: '2', cached_input: '0.2', cache_write: '2.5', output: '10' },
    bill: 2_706n,
  },
  {
    upstream: 'xAI, with the reasoning outside of the completion',
    usage: {
      prompt_tokens: 10_120,
      completion_tokens: 1_499,
      total_tokens: 14_428,
      prompt_tokens_details: { cached_tokens: 128, text_tokens: 10_120 },
      completion_tokens_details: { reasoning_tokens: 2_809 },
      cost_in_usd_ticks: 232_856_000,
    },
    prices: { input: '1.25', cached_input: '0.2', output: '2.5' },
    bill: 23_286n,
  },
]

describe('tokenCharge: the bill', () => {
  it.each(WORKED_BILLS)('of $upstream is $bill', ({ usage, prices, bill }) => {
    expect(billOf(readTokenUsage(usage), prices)).toBe(bill)
  })

  it('of a stream of Kimi, which reports its usage in the choice, is 8780', () => {
    const usage = { prompt_tokens: 20_000, completion_tokens: 1_000, total_tokens: 21_000, cached_tokens: 18_000 }
    const stream = new ChatStream({
      ...rulesOf('kimi'),
      relaysUsage: false,
      choices: 1,
      withoutCredentials: (text) => text,
      costOf: () => undefined,
    })
    stream.push(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hi' } }] })}\n\n`)
    stream.push(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] })}\n\n`)
    stream.push('data: [DONE]\n\n')
    expect(billOf(stream.usage, { input: '0.95', cached_input: '0.16', output: '4' })).toBe(8_780n)
  })
})

const ALL = {
  input: '2',
  output: '10',
  cached_input: '0.2',
  cached_input_explicit: '0.1',
  cache_write: '2.5',
  cache_write_1h: '4',
}

describe('tokenRates of a price row', () => {
  it('are its prices', () => {
    expect(tokenRates(ALL)).toStrictEqual({
      input: 2_000_000n,
      cachedInput: 200_000n,
      cachedInputExplicit: 100_000n,
      cacheWrite: 2_500_000n,
      cacheWrite1h: 4_000_000n,
      output: 10_000_000n,
    })
  })

  it.each([
    [{}, [2_000_000n, 2_000_000n, 2_000_000n, 2_000_000n]],
    [{ cached_input: '1' }, [1_000_000n, 1_000_000n, 2_000_000n, 2_000_000n]],
    [{ cached_input_explicit: '1' }, [2_000_000n, 1_000_000n, 2_000_000n, 2_000_000n]],
    [{ cache_write: '3' }, [2_000_000n, 2_000_000n, 3_000_000n, 3_000_000n]],
    [{ cache_write_1h: '3' }, [2_000_000n, 2_000_000n, 2_000_000n, 3_000_000n]],
    [{ cached_input: '0', cache_write: '0' }, [0n, 0n, 0n, 0n]],
  ])('fall back where a price is absent: %j', (row, rates) => {
    const { cachedInput, cachedInputExplicit, cacheWrite, cacheWrite1h } = tokenRates({
      input: '2',
      output: '10',
      ...row,
    })
    expect([cachedInput, cachedInputExplicit, cacheWrite, cacheWrite1h]).toStrictEqual(rates)
  })

  it('have a highest one for the input, whichever that is', () => {
    expect(highestInputRate(tokenRates(ALL))).toBe(4_000_000n)
    expect(highestInputRate(tokenRates({ input: '2', output: '10' }))).toBe(2_000_000n)
  })

  it('price each part by its own rate', () => {
    const one = tokenCounts({
      input: 1,
      cachedInput: 1,
      cachedInputExplicit: 1,
      cacheWrite: 1,
      cacheWrite1h: 1,
      output: 1,
    })
    expect(ratedCounts(one, tokenRates(ALL))).toBe(18_800_000n)
    expect(ratedCounts(tokenCounts({ cacheWrite1h: 3 }), tokenRates(ALL))).toBe(12_000_000n)
  })
})

const perToken = (price: string) => ({ id: 'm', prices: [{ input: price }] })
const PER_REQUEST = { id: 'm', prices: [{ price: '0.5' }] }

describe('embeddingCost', () => {
  it.each([
    ['0.02', 1_000_000, 20_000n],
    ['0.02', 1, 1n],
    ['0.02', 24, 1n],
    ['0.02', 25, 1n],
    ['0.02', 26, 1n],
    ['0.02', 75, 2n],
    ['0.13', 8192, 1065n],
    ['0.10', 1, 1n],
    ['0.10', 5, 1n],
    ['0', 1_000_000_000, 0n],
    ['1000000000', 1_000_000_000, 1_000_000_000_000_000_000n],
  ])(
    'at %s per million for %d tokens is %d microcredits, rounded half up once, a millionth at least',
    (price, tokens, amount) => {
      expect(embeddingCost(perToken(price), tokens)).toBe(amount)
    },
  )

  it('of a request is its price, whatever its tokens', () => {
    expect(embeddingCost(PER_REQUEST, 0)).toBe(500_000n)
    expect(embeddingCost(PER_REQUEST, 1_000_000)).toBe(500_000n)
  })

  it.each(['text-embedding-3-small', 'text-embedding-3-large', 'text-embedding-ada-002'])('of %s is priced', (id) => {
    const model = shippedCatalogue.findRelayModel(id, { kind: 'embedding', allowed: null })
    expect(model && embeddingCost(model, 1_000_000)).toBeGreaterThan(0n)
  })
})

describe('embeddingChargeMax', () => {
  const bounds = fc.array(fc.integer({ min: 1, max: 8192 }), { minLength: 1, maxLength: 2048 })
  const prices = fc.bigInt({ min: 0n, max: 1_000_000_000n }).map(microcredits)

  it('covers whatever usage is within the bounds', () => {
    fc.assert(
      fc.property(bounds, prices, fc.double({ min: 0, max: 1, noNaN: true }), (tokens, price, share) => {
        const sum = tokens.reduce((total, each) => total + each, 0)
        const model = {
          id: 'm',
          prices: [{ input: `0.${(price % 1_000_000n).toString().padStart(6, '0')}` }],
        }
        expect(embeddingChargeMax(model, tokens).amount).toBeGreaterThanOrEqual(
          embeddingCost(model, Math.floor(sum * share)),
        )
      }),
    )
  })

  it('is rounded once for all inputs together', () => {
    expect(embeddingChargeMax(perToken('0.02'), [20, 20, 20]).amount).toBe(1n)
  })

  it('of a request is its price', () => {
    expect(embeddingChargeMax(PER_REQUEST, [1, 2, 3]).amount).toBe(500_000n)
  })
})

describe('embeddingBilling', () => {
  /** Bills a reply with these tokens after a reservation of 45 million. */
  async function billed(model: Parameters<typeof embeddingCost>[0], tokens: number | undefined) {
    const { estimate, price } = embeddingBilling({ ...model, max_input_tokens: 1 }, 1, async () => [45_000_000])
    await estimate()
    return price([{ how: 'whole', usage: tokens, textBytes: 0 }])
  }
  const bill = (amount: bigint, inputTokens: number) => ({ amount, usage: countedUsage({ inputTokens }) })

  it('bills the usage', async () => {
    expect(await billed(perToken('0.02'), 100)).toMatchObject({ charge: bill(2n, 100), isEstimated: false })
  })

  it('never bills nothing where there is a price, however little was embedded', async () => {
    expect(await billed(perToken('0.02'), 1)).toMatchObject({ charge: bill(1n, 1), isEstimated: false })
  })

  it.each([undefined, 0])('bills what was locked for a usage of %p, and says so', async (tokens) => {
    expect(await billed(perToken('0.02'), tokens)).toStrictEqual({
      charge: bill(900_000n, 45_000_000),
      isEstimated: true,
    })
  })

  it.each([0, 100])('bills the price of a request with a usage of %p', async (tokens) => {
    expect(await billed(PER_REQUEST, tokens)).toMatchObject({ charge: bill(500_000n, tokens), isEstimated: false })
  })

  it('limits a usage to the inputs', () => {
    const { check } = embeddingBilling({ ...PER_REQUEST, max_input_tokens: 8 }, 2, async () => [8, 8])
    expect(check(16)).toStrictEqual({ usage: 16, doubts: [] })
    expect(check(17)).toStrictEqual({ usage: 16, doubts: [{ kind: 'above_bound', reported: { promptTokens: 17 } }] })
  })
})

function model(id: string): ImageModel {
  const found = shippedCatalogue.findRelayModel(id, { kind: 'image', allowed: null })
  if (found === undefined) {
    throw new RangeError(`no model ${id}`)
  }
  return found
}

const request = (members: object) =>
  parseImageRequest(
    { model: 'image-v2', prompt: 'a fox', ...members },
    { catalogue: shippedCatalogue, allowedModels: null },
  )

describe('imageCost', () => {
  it.each([
    ['image-v3', '1024x1024', 'standard', '0.04'],
    ['image-v3', '1024x1024', 'hd', '0.08'],
    ['image-v3', '1792x1024', 'standard', '0.08'],
    ['image-v3', '1024x1792', 'hd', '0.12'],
    ['image-v2', '256x256', undefined, '0.016'],
    ['image-v2', '512x512', undefined, '0.018'],
    ['image-v2', '1024x1024', undefined, '0.02'],
  ])('of %s in %s at quality %p is %s each', (id, size, quality, price) => {
    expect(formatCredits(imageCost(model(id), { size, quality }, 1))).toBe(price)
  })

  it('is the price times their number', () => {
    expect(formatCredits(imageCost(model('image-v2'), { size: '256x256', quality: undefined }, 10))).toBe('0.16')
    expect(imageCost(model('image-v2'), { size: '256x256', quality: undefined }, 0)).toBe(0n)
  })

  it('of a request is its price, however many there are', () => {
    const perRequest = { ...model('image-v2'), billing: 'per_request' } as const
    for (const count of [0, 1, 10]) {
      expect(formatCredits(imageCost(perRequest, { size: '256x256', quality: undefined }, count))).toBe('0.016')
    }
  })

  it('has no price for a tier without a row', () => {
    expect(() => imageCost(model('image-v2'), { size: '64x64', quality: undefined }, 1)).toThrow(NoPriceError)
    const onlyHd = { ...model('image-v3'), prices: [{ size: 'any', quality: 'hd', price: '1' }] }
    expect(() => imageCost(onlyHd, { size: '1024x1024', quality: undefined }, 1)).toThrow(NoPriceError)
  })

  it.each(['image-v3', 'image-v2'])('of %s has a price above nothing for every cell', (id) => {
    const tiers = imagePriceTiers(model(id))
    expect(tiers).toHaveLength(id === 'image-v3' ? 6 : 3)
    for (const tier of tiers) {
      expect(imageCost(model(id), tier, 1)).toBeGreaterThan(0n)
    }
  })
})

describe('imageChargeMax and imageBilling: a request for images', () => {
  it('locks the price of all that were asked for', () => {
    expect(formatCredits(imageChargeMax(request({ n: 3, size: '512x512' })).amount)).toBe('0.054')
    expect(formatCredits(imageChargeMax(request({ model: 'image-v3', quality: 'hd' })).amount)).toBe('0.08')
  })

  it.each([
    ['the images that came', 2, '0.036'],
    ['no more than were asked for', 7, '0.054'],
  ])('is billed %s', (_, images, amount) => {
    const { check, price } = imageBilling(request({ n: 3, size: '512x512' }))
    const priced = price([{ how: 'whole', usage: check(images).usage, textBytes: 0 }])
    expect(priced && formatCredits(priced.charge.amount)).toBe(amount)
    expect(priced?.charge.usage).toStrictEqual(countedUsage({ images: Math.min(images, 3) }))
  })
})
