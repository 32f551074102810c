import { describe, expect, it } from 'vitest'
import { countedUsage, nonZeroCounts } from '#core/quota/counted-usage.ts'

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
