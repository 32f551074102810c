import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ChatModel } from '#core/catalogue/model.ts'
import { chatCharge, chatChargeMax } from '#core/quota/chat-cost.ts'
import { INPUT_PARTS, inputTokensOf, tokenCounts } from '#core/quota/token-counts.ts'
import { readTokenUsage } from '#core/quota/token-usage.ts'
import { boundTokenCounts, chatUsageMax } from '#core/quota/usage-bounds.ts'

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
      const most = chatUsageMax(model, choices)
      const bounded = boundTokenCounts(counts, most)
      expect(inputTokensOf(bounded)).toBe(Math.min(inputTokensOf(counts), most.input))
      expect(bounded.output).toBe(Math.min(counts.output, most.output))
      for (const part of INPUT_PARTS) {
        expect(bounded[part] >= 0 && bounded[part] <= counts[part]).toBe(true)
      }
      const { amount } = chatCharge(model, bounded)
      const bounds = { promptTokensMax: most.input, outputTokensMax: model.max_output_tokens, choices }
      expect(amount).toBeGreaterThanOrEqual(0n)
      expect(amount).toBeLessThanOrEqual(chatChargeMax(model, bounds).amount)
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
