import { describe, expect, it } from 'vitest'
import { tokenCounts } from '#core/quota/token-counts.ts'
import { highestInputRate, ratedCounts, tokenRates } from '#core/quota/token-rates.ts'

const ALL = {
  input: '2',
  output: '10',
  cached_input: '0.2',
  cached_input_explicit: '0.1',
  cache_write: '2.5',
  cache_write_1h: '4',
}

describe('the rates of a price row', () => {
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
