import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { ChatModel } from '#core/catalogue/model.ts'
import type { Resolution } from '#core/catalogue/parameters.ts'
import { microcredits, parseCredits } from '#core/money.ts'
import { tokenCharge, tokenChargeMax } from '#core/pricing/relay-cost.ts'
import {
  believedUsage,
  boundTokenCounts,
  countedTokens,
  INPUT_PARTS,
  inputTokensOf,
  isNothing,
  readTokenUsage,
  sumOfTokenCounts,
  tokenCounts,
  tokensByLength,
} from '#core/pricing/token-usage.ts'
import { countedUsage } from '#core/pricing/usage.ts'
import { type PriceSnapshot, snapshotPrices } from '#core/pricing/video-cost.ts'
import { settleVideoCost } from '#core/pricing/video-settlement.ts'
import { p1 } from '#core/providers/p1.ts'
import { p2 } from '#core/providers/p2.ts'
import { MODEL_ROWS } from '../interface-tables.ts'
import { shippedModel } from '../shipped-catalogue.ts'
import { settle } from './settling.ts'

describe('believedUsage: a usage of zeros', () => {
  it('is not believed beside a response, and is beside none', () => {
    const zeros = readTokenUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })
    expect(believedUsage(zeros, true)).toBeUndefined()
    expect(believedUsage(readTokenUsage({ total_tokens: 0, prompt_tokens: 0 }), false)).toStrictEqual(tokenCounts({}))
  })

  it('is not believed when its total says something else', () => {
    expect(readTokenUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 15 })).toBeUndefined()
  })

  it('is believed of one part: a prompt may have an empty reply', () => {
    const usage = readTokenUsage({ prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 })
    expect(believedUsage(usage, true)).toStrictEqual(tokenCounts({ input: 9 }))
  })
})

describe('readTokenUsage', () => {
  const chat = { prompt_tokens: 100, completion_tokens: 10 }

  it.each<[string, object, Parameters<typeof tokenCounts>[0]]>([
    ['details of the prompt', { ...chat, prompt_tokens_details: { cached_tokens: 60 } }, { cachedInput: 60 }],
    ['the top level (Moonshot)', { ...chat, cached_tokens: 60 }, { cachedInput: 60 }],
    [
      'two places at once',
      { ...chat, cached_tokens: 60, prompt_tokens_details: { cached_tokens: 60 } },
      { cachedInput: 60 },
    ],
    [
      'hits and misses (DeepSeek)',
      { ...chat, prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 },
      { cachedInput: 60 },
    ],
    [
      'hits beside zero details',
      { ...chat, prompt_cache_hit_tokens: 60, prompt_tokens_details: { cached_tokens: 0 } },
      { cachedInput: 60 },
    ],
    ['details that are null (vLLM)', { ...chat, cached_tokens: 60, prompt_tokens_details: null }, { cachedInput: 60 }],
    ['the name of messages inside of a prompt', { ...chat, cache_read_input_tokens: 60 }, { cachedInput: 60 }],
    [
      'reads and writes',
      { ...chat, prompt_tokens_details: { cached_tokens: 50, cache_write_tokens: 10 } },
      { cachedInput: 50, cacheWrite: 10 },
    ],
    [
      'an explicit cache',
      { ...chat, prompt_tokens_details: { cached_tokens: 50, cache_creation_input_tokens: 10 } },
      { cachedInputExplicit: 50, cacheWrite: 10 },
    ],
    [
      'an explicit cache without a write',
      { ...chat, prompt_tokens_details: { cached_tokens: 60, cache_creation_input_tokens: 0 } },
      { cachedInputExplicit: 60 },
    ],
    [
      'audio and images among the cached',
      { ...chat, prompt_tokens_details: { cached_tokens: 60, image_tokens: 30, audio_tokens: 9 } },
      { cachedInput: 60 },
    ],
  ])('finds the cached input in %s', (_, usage, cache) => {
    expect(readTokenUsage(usage)).toStrictEqual(tokenCounts({ input: 40, output: 10, ...cache }))
  })

  const response = { input_tokens: 100, output_tokens: 10, total_tokens: 110 }

  it('reads a usage in the form of responses, where the cache is inside of the input', () => {
    const details = { cached_tokens: 50, cache_write_tokens: 30 }
    const split = { ...details, cache_write_tokens_details: { ttl_30m_tokens: 10, ttl_12h_tokens: 20 } }
    expect(readTokenUsage({ ...response, input_tokens_details: details })).toStrictEqual(
      tokenCounts({ input: 20, cachedInput: 50, cacheWrite: 30, output: 10 }),
    )
    expect(readTokenUsage({ ...response, input_tokens_details: split })).toStrictEqual(
      tokenCounts({ input: 20, cachedInput: 50, cacheWrite: 10, cacheWrite1h: 20, output: 10 }),
    )
  })

  it('reads a usage in the form of messages, where the cache is outside of the input', () => {
    const message = { input_tokens: 5, output_tokens: 10, cache_read_input_tokens: 60 }
    const split = { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 15 }
    expect(readTokenUsage(message)).toStrictEqual(tokenCounts({ input: 5, cachedInput: 60, output: 10 }))
    expect(readTokenUsage({ ...message, cache_creation_input_tokens: 35, cache_creation: split })).toStrictEqual(
      tokenCounts({ input: 5, cachedInput: 60, cacheWrite: 20, cacheWrite1h: 15, output: 10 }),
    )
    expect(readTokenUsage({ ...message, cache_creation_input_tokens: null })).toMatchObject({ input: 5 })
  })

  it('lets the total decide whether the cache is inside of the input', () => {
    const outside = { ...chat, cache_read_input_tokens: 60, total_tokens: 170 }
    expect(readTokenUsage(outside)).toStrictEqual(tokenCounts({ input: 100, cachedInput: 60, output: 10 }))
    const inside = { ...response, cache_read_input_tokens: 60 }
    expect(readTokenUsage(inside)).toStrictEqual(tokenCounts({ input: 40, cachedInput: 60, output: 10 }))
  })

  it.each([
    [{ total_tokens: 110 }, 10],
    [{ total_tokens: 118 }, 18],
    [{}, 10],
  ])('counts reasoning once, inside of the completion unless the total says otherwise: %j', (total, output) => {
    const usage = { ...chat, ...total, completion_tokens_details: { reasoning_tokens: 8 } }
    expect(readTokenUsage(usage)).toStrictEqual(tokenCounts({ input: 100, output }))
  })

  it('counts cache and reasoning on top of prompt and completion if the total has both', () => {
    const reasoning = { completion_tokens_details: { reasoning_tokens: 8 } }
    const usage = { ...chat, ...reasoning, cache_read_input_tokens: 60, total_tokens: 178 }
    expect(readTokenUsage(usage)).toStrictEqual(tokenCounts({ input: 100, cachedInput: 60, output: 18 }))
  })

  it('keeps counts small enough for exact sums', () => {
    expect(readTokenUsage({ prompt_tokens: 1e308, completion_tokens: 3 })).toStrictEqual(
      tokenCounts({ input: 2 ** 48, output: 3 }),
    )
  })

  it('computes a missing count from the total', () => {
    expect(readTokenUsage({ prompt_tokens: 9, total_tokens: 12 })).toStrictEqual(tokenCounts({ input: 9, output: 3 }))
    expect(readTokenUsage({ completion_tokens: 3, total_tokens: 12 })).toStrictEqual(
      tokenCounts({ input: 9, output: 3 }),
    )
  })

  it('prefers the name that is not zero', () => {
    const usage = { prompt_tokens: 0, input_tokens: 9, completion_tokens: 3, output_tokens: 0 }
    expect(readTokenUsage(usage)).toStrictEqual(tokenCounts({ input: 9, output: 3 }))
  })

  it.each([
    [{ cached_tokens: 101 }, { cachedInput: 100 }],
    [
      { cached_tokens: 90, cache_creation_input_tokens: 20 },
      { cachedInput: 90, cacheWrite: 10 },
    ],
    [{ cache_creation_input_tokens: 20, cache_creation: { ephemeral_1h_input_tokens: 200 } }, { cacheWrite1h: 100 }],
  ])('cuts parts above the prompt to the prompt, and says so: %j', (more, parts) => {
    expect(readTokenUsage({ ...chat, ...more })).toStrictEqual(tokenCounts({ output: 10, ...parts, isCorrected: true }))
  })

  it.each([-60, 6.5, '60', Number.NaN, null, [60], {}])('ignores cached tokens of %p', (cached_tokens) => {
    expect(readTokenUsage({ ...chat, cached_tokens })).toStrictEqual(tokenCounts({ input: 100, output: 10 }))
  })

  it.each([undefined, null, 'many', 9, [], {}, { prompt_tokens: 9 }, { prompt_tokens: -1, completion_tokens: 3 }])(
    'finds nothing in %p',
    (usage) => {
      expect(readTokenUsage(usage)).toBeUndefined()
    },
  )
})

const COUNTS = tokenCounts({
  input: 1,
  cachedInput: 20,
  cachedInputExplicit: 300,
  cacheWrite: 4_000,
  cacheWrite1h: 50_000,
  output: 600_000,
})

describe('tokenCounts', () => {
  it('have zero for every part that is left out', () => {
    expect(tokenCounts({})).toStrictEqual({
      input: 0,
      cachedInput: 0,
      cachedInputExplicit: 0,
      cacheWrite: 0,
      cacheWrite1h: 0,
      output: 0,
    })
  })

  it('have an input of all parts but the output', () => {
    expect(inputTokensOf(COUNTS)).toBe(54_321)
  })

  it('are nothing only without any part', () => {
    expect(isNothing(tokenCounts({}))).toBe(true)
    expect(isNothing(tokenCounts({ output: 1 }))).toBe(false)
    expect(isNothing(tokenCounts({ cacheWrite1h: 1 }))).toBe(false)
  })

  it('are added part by part', () => {
    const double = Object.fromEntries(Object.entries(COUNTS).map(([name, count]) => [name, 2 * Number(count)]))
    expect(sumOfTokenCounts([COUNTS, COUNTS])).toStrictEqual(double)
    expect(sumOfTokenCounts([])).toStrictEqual(tokenCounts({}))
  })

  it('are recorded with both kinds of cache and of write as one', () => {
    expect(countedTokens(COUNTS)).toStrictEqual(
      countedUsage({ inputTokens: 1, cachedInputTokens: 320, cacheWriteTokens: 54_000, outputTokens: 600_000 }),
    )
  })
})

/** JSON of whatever an upstream may write where a number belongs. */
const reported = fc.oneof(
  fc.double().map((value) => (Number.isFinite(value) ? String(value) : '1e309')),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc.nat({ max: 5_000 }).map(String),
  fc.double({ min: 0, max: 5_000, noNaN: true }).map((value) => value.toFixed(3)),
  fc.constantFrom('null', '"many"', '"12"', '"3600"', '[]', '{}', 'true', '-5', '1e309', '1e18', '1E3'),
)

const resolution = fc.constantFrom('480', '"720P"', '"1080p"', '1080', '"4K"', 'null')

/** Prices are in microcredits for a unit, or for a million tokens: rounded up, so that it is a bound. */
function dearest({ billing, prices, quantityMax }: PriceSnapshot): bigint {
  const price = prices.map((row) => parseCredits(row.price)).reduce((most, each) => (each > most ? each : most))
  const whole = price * BigInt(quantityMax)
  return billing === 'token' ? whole / 1_000_000n + 1n : whole
}

describe.each(MODEL_ROWS)('the bill of $id', ({ id }) => {
  const model = shippedModel(id)

  it('is never above what its model can make, nor below nothing, whatever an upstream reports', () => {
    const requested = fc.record({
      resolution: fc.constantFrom<Resolution>(...model.resolutions),
      audio: fc.boolean(),
      videoInput: model.videos.max === 0 ? fc.constant(false) : fc.boolean(),
    })
    fc.assert(
      fc.property(requested, reported, reported, resolution, fc.boolean(), (tier, first, second, made, isP1) => {
        const prices = snapshotPrices(model, tier)
        const text = isP1
          ? `{"usage":{"duration":${first},"output_video_duration":${second},"SR":${made}}}`
          : `{"usage":{"completion_tokens":${first}},"duration":${second},"resolution":${made}}`
        const result = isP1 ? p1.readResult(JSON.parse(text)) : p2.readResult(JSON.parse(text))
        const estimate = microcredits(1n)
        const settlement = settleVideoCost({
          estimate,
          snapshot: prices,
          requested: tier,
          result,
          durationSeconds: result.outputSeconds,
        })
        expect(settlement.amount).toBeGreaterThanOrEqual(0n)
        expect(settlement.amount).toBeLessThanOrEqual(dearest(prices))
      }),
      { numRuns: 500 },
    )
  })
})

describe('settleVideoCost: a bill above the reservation', () => {
  it('stands where the model can have used it: a video that came out longer than asked for', () => {
    const prices = snapshotPrices(shippedModel('famB-1.1-t2v'), { videoInput: false })
    const settlement = settle({ snapshot: prices, estimate: '0.7', result: { billableSeconds: '10' } })
    expect(settlement).toMatchObject({ amount: '1.4', overdraft: '0.7', usageAboveBound: false })
  })

  it('ends at the longest video of the model: an hour for five seconds is fifteen', () => {
    const prices = snapshotPrices(shippedModel('famB-1.1-t2v'), { videoInput: false })
    const settlement = settle({ snapshot: prices, estimate: '0.7', result: { billableSeconds: '3600' } })
    expect(settlement).toMatchObject({ amount: '2.1', overdraft: '1.4', usageAboveBound: true })
  })
})

it.each([
  [0, 0],
  [1, 1],
  [4, 1],
  [5, 2],
])('tokensByLength of %i bytes is %i, rounded up', (bytes, tokens) => {
  expect(tokensByLength(bytes)).toBe(tokens)
})

describe('readTokenUsage and boundTokenCounts, whatever is reported,', () => {
  const NAMES = [
    'prompt_tokens',
    'input_tokens',
    'completion_tokens',
    'output_tokens',
    'total_tokens',
    'cached_tokens',
    'prompt_cache_hit_tokens',
    'prompt_cache_miss_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
    'cache_write_tokens',
    'reasoning_tokens',
    'ephemeral_5m_input_tokens',
    'ephemeral_1h_input_tokens',
    'ttl_30m_tokens',
    'ttl_12h_tokens',
  ]
  const OBJECTS = [
    'prompt_tokens_details',
    'input_tokens_details',
    'completion_tokens_details',
    'output_tokens_details',
    'cache_creation',
    'cache_write_tokens_details',
  ]

  const value = fc.oneof(
    { weight: 6, arbitrary: fc.nat(300_000) },
    { weight: 1, arbitrary: fc.double() },
    { weight: 1, arbitrary: fc.jsonValue() },
    { weight: 1, arbitrary: fc.constantFrom(-1, 0, 1e308, 2 ** 53, '12') },
  )

  /** Whatever an upstream may say of its usage, with the names that are read, at every depth that is read. */
  const { usage } = fc.letrec<{ usage: Record<string, unknown> }>((tie) => ({
    usage: fc
      .tuple(
        fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 10 }),
        fc.dictionary(fc.constantFrom(...OBJECTS), fc.oneof({ maxDepth: 2 }, fc.constant(null), tie('usage')), {
          maxKeys: 3,
        }),
      )
      .map(([counts, objects]) => ({ ...counts, ...objects })),
  }))

  const price = fc.nat(20_000_000).map((amount) => (amount / 1_000_000).toFixed(6))
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

  const MODEL: Omit<ChatModel, 'prices'> = {
    id: 'chat',
    kind: 'chat',
    enabled: true,
    owned_by: 'test',
    created: 0,
    billing: 'token',
    context_tokens: 128_000,
    max_output_tokens: 16_384,
    image_tokens: 0,
    input_modalities: ['text'],
    output_modalities: ['text'],
  }

  it('counts parts that never overlap, none of them negative or above the model, whatever an upstream reports', () => {
    fc.assert(
      fc.property(usage, prices, fc.integer({ min: 1, max: 8 }), (reported, row, choices) => {
        const counts = readTokenUsage(JSON.parse(JSON.stringify(reported)))
        if (counts === undefined) {
          return
        }
        const wholes = [reported.prompt_tokens, reported.input_tokens, reported.total_tokens]
        for (const part of [...INPUT_PARTS, 'output' as const]) {
          expect(Number.isSafeInteger(counts[part]) && counts[part] >= 0).toBe(true)
        }
        // The parts sum to a whole that was stated, or to a part of one beside other parts that were stated.
        expect(wholes.some((whole) => typeof whole === 'number')).toBe(true)
        const model: ChatModel = { ...MODEL, prices: [row] }
        const most = { input: model.context_tokens, output: model.max_output_tokens * choices }
        const bounded = boundTokenCounts(counts, most)
        expect(inputTokensOf(bounded)).toBe(Math.min(inputTokensOf(counts), most.input))
        expect(bounded.output).toBe(Math.min(counts.output, most.output))
        for (const part of INPUT_PARTS) {
          expect(bounded[part] >= 0 && bounded[part] <= counts[part]).toBe(true)
        }
        const { amount } = tokenCharge(model, bounded)
        const bounds = { promptTokensMax: most.input, outputTokensMax: model.max_output_tokens, choices }
        expect(amount).toBeGreaterThanOrEqual(0n)
        expect(amount).toBeLessThanOrEqual(tokenChargeMax(model, bounds).amount)
      }),
      { numRuns: 2_000 },
    )
  })

  it('keeps cached tokens and cuts fresh ones when the input is above the bound', () => {
    const counts = tokenCounts({ input: 100, cachedInput: 100, output: 5 })
    expect(boundTokenCounts(counts, { input: 150, output: 10 })).toEqual(
      tokenCounts({ input: 50, cachedInput: 100, output: 5 }),
    )
  })

  it('keeps tokens that were read from a cache before those that were written to one', () => {
    const counts = tokenCounts({ input: 100, cachedInput: 100, cacheWrite: 100, cacheWrite1h: 100 })
    expect(boundTokenCounts(counts, { input: 150, output: 10 })).toEqual(
      tokenCounts({ cachedInput: 100, cacheWrite: 50 }),
    )
  })
})
