import { describe, expect, it } from 'vitest'
import { tokenCounts } from '#core/quota/token-counts.ts'
import { believedUsage, readTokenUsage } from '#core/quota/token-usage.ts'

describe('a usage of zeros', () => {
  it('is not believed beside a response, and is beside none', () => {
    const zeros = readTokenUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })
    expect(believedUsage(zeros, true)).toBeUndefined()
    expect(believedUsage(readTokenUsage({ total_tokens: 0, prompt_tokens: 0 }), false)).toStrictEqual(tokenCounts({}))
  })

  it('is not believed when its total says something else', () => {
    expect(readTokenUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 15 })).toBeUndefined()
  })

  it('is believed of one part: a prompt may be answered with nothing', () => {
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
