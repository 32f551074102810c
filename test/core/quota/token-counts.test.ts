import { describe, expect, it } from 'vitest'
import { countedUsage } from '#core/quota/counted-usage.ts'
import { countedTokens, inputTokensOf, isNothing, sumOfTokenCounts, tokenCounts } from '#core/quota/token-counts.ts'

const COUNTS = tokenCounts({
  input: 1,
  cachedInput: 20,
  cachedInputExplicit: 300,
  cacheWrite: 4_000,
  cacheWrite1h: 50_000,
  output: 600_000,
})

describe('counts of tokens', () => {
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
