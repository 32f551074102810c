import { describe, expect, it } from 'vitest'
import { countedUsage, nonZeroCounts, sumOfCountedUsages } from '#core/quota/counted-usage.ts'

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

describe('sumOfCountedUsages', () => {
  it('adds each count by itself', () => {
    const usages = [
      { inputTokens: 1, cachedInputTokens: 2, cacheWriteTokens: 3, outputTokens: 4, videoMilliseconds: 5, images: 6 },
      {
        inputTokens: 10,
        cachedInputTokens: 20,
        cacheWriteTokens: 30,
        outputTokens: 40,
        videoMilliseconds: 50,
        images: 60,
      },
    ]
    expect(sumOfCountedUsages(usages)).toStrictEqual({
      inputTokens: 11,
      cachedInputTokens: 22,
      cacheWriteTokens: 33,
      outputTokens: 44,
      videoMilliseconds: 55,
      images: 66,
    })
  })

  it('is nothing for an empty list', () => {
    expect(sumOfCountedUsages([])).toStrictEqual(NOTHING)
  })
})
