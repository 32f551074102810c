import { describe, expect, it } from '@jest/globals'
import { parseCredits } from '#core/money.ts'
import {
  addUsageSums,
  countedUsage,
  counterIdOf,
  counterOfSettlement,
  dayOf,
  daysBefore,
  dimensionsOf,
  isDay,
  NO_USAGE,
  nonZeroCounts,
  sumsOfSettlement,
  usageView,
} from '#core/pricing/usage.ts'

const NOTHING = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  videoMilliseconds: 0,
  images: 0,
}

describe('countedUsage', () => {
  it('has zero for every count that is left out', () => {
    expect(countedUsage({ outputTokens: 3 })).toStrictEqual({ ...NOTHING, outputTokens: 3 })
  })
})

describe('nonZeroCounts', () => {
  it('leaves out every zero, and is read again as the same usage', () => {
    const usage = countedUsage({ outputTokens: 3, images: 1 })
    expect(nonZeroCounts(usage)).toStrictEqual({ outputTokens: 3, images: 1 })
    expect(countedUsage(nonZeroCounts(usage))).toStrictEqual(usage)
  })
})

const settlement = {
  tenantId: 'acme',
  at: Date.parse('2026-11-22T23:59:59.999Z'),
  keyId: 'key1',
  operation: 'create-chat-completion',
  model: 'vendor/chat#beta',
  usage: countedUsage({ inputTokens: 5, outputTokens: 7 }),
  actual: parseCredits('0.000021'),
}

describe('dayOf', () => {
  it('is the day in UTC, up to its last millisecond', () => {
    expect(dayOf(settlement.at)).toBe('2026-11-22')
    expect(dayOf(settlement.at + 1)).toBe('2026-11-23')
  })
})

describe('counterIdOf', () => {
  it('keeps a model with the separator apart from the other dimensions', () => {
    const dimensions = { day: '2026-11-22', keyId: 'key1', operation: 'create-image', model: 'a#b##c' }
    expect(dimensionsOf(counterIdOf(dimensions))).toEqual(dimensions)
  })

  it('sorts by day first, whatever the key', () => {
    const ids = ['2026-11-23', '2026-11-22'].map((day, index) =>
      counterIdOf({ day, keyId: `key${index}`, operation: 'create-image', model: 'm' }),
    )
    expect(ids.toSorted()).toEqual(ids.toReversed())
  })
})

describe('counterOfSettlement', () => {
  it('names the day of the settlement, its key, operation and model', () => {
    expect(counterOfSettlement(settlement)).toBe('2026-11-22#key1#create-chat-completion#vendor/chat#beta')
  })
})

describe('addUsageSums', () => {
  it('adds each sum by itself, and the cost to the millionth', () => {
    const one = sumsOfSettlement(settlement)
    const other = {
      requests: 1,
      inputTokens: 10,
      cachedInputTokens: 20,
      cacheWriteTokens: 30,
      outputTokens: 40,
      videoMilliseconds: 50,
      images: 60,
      cost: parseCredits('1000000000'),
    }
    expect(addUsageSums(addUsageSums(NO_USAGE, one), other)).toEqual({
      requests: 2,
      inputTokens: 15,
      cachedInputTokens: 20,
      cacheWriteTokens: 30,
      outputTokens: 47,
      videoMilliseconds: 50,
      images: 60,
      cost: parseCredits('1000000000') + 21n,
    })
  })
})

describe('usageView', () => {
  it('names each count as responses do, and shows lengths in seconds', () => {
    const counts = { inputTokens: 1, cachedInputTokens: 2, cacheWriteTokens: 3, outputTokens: 4, images: 5 }
    expect(usageView(countedUsage({ ...counts, videoMilliseconds: 5_040 }))).toEqual({
      input_tokens: 1,
      cached_input_tokens: 2,
      cache_write_tokens: 3,
      output_tokens: 4,
      images: 5,
      video_seconds: 5.04,
    })
  })
})

describe('isDay', () => {
  it.each(['2026-11-01', '2024-02-29', '0001-01-01', '9999-12-31'])('accepts %s', (text) => {
    expect(isDay(text)).toBe(true)
  })

  it.each([
    '',
    '2026-11-1',
    '2026-11-31',
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-11-01T00:00:00Z',
    '+002026-11-01',
    ' 2026-11-01',
    'yesterday',
  ])('refuses "%s"', (text) => {
    expect(isDay(text)).toBe(false)
  })
})

describe('daysBefore', () => {
  it.each([
    ['2026-03-01', 1, '2026-02-28'],
    ['2024-03-01', 1, '2024-02-29'],
    ['2026-01-01', 91, '2025-10-02'],
    ['2026-01-01', 0, '2026-01-01'],
    ['0000-01-03', 91, '0000-01-01'],
  ])('of %s by %i is %s', (day, count, expected) => {
    expect(daysBefore(day, count)).toBe(expected)
  })
})
