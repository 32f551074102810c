import { describe, expect, it } from 'vitest'
import { parseCredits } from '#core/money/money.ts'
import { countedUsage } from '#core/quota/counted-usage.ts'
import {
  addUsageSums,
  counterIdOf,
  counterOfSettlement,
  dayOf,
  dimensionsOf,
  NO_USAGE,
  sumsOfSettlement,
} from '#core/quota/usage-counter.ts'

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
