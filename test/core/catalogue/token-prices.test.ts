import { describe, expect, it } from 'vitest'
import { chatTokenPrices, embeddingTokenPrices } from '#core/catalogue/token-prices.ts'

describe('chatTokenPrices', () => {
  it('keeps every price that is written, and adds none', () => {
    const row = {
      input: '3',
      output: '15',
      cached_input: '0.3',
      cached_input_explicit: '0.2',
      cache_write: '3.75',
      cache_write_1h: '6',
    }
    expect(chatTokenPrices.parse(row)).toStrictEqual(row)
    expect(chatTokenPrices.parse({ input: '3', output: '15' })).toStrictEqual({ input: '3', output: '15' })
  })

  it('takes the older names, alone and beside the prices of a cache', () => {
    const older = { input_per_million: '3', output_per_million: '15' }
    expect(chatTokenPrices.parse(older)).toStrictEqual({ input: '3', output: '15' })
    expect(chatTokenPrices.parse({ ...older, cached_input: '0.3' })).toStrictEqual({
      input: '3',
      output: '15',
      cached_input: '0.3',
    })
  })

  it.each([
    [{ input: '3' }, 'output', 'write output, the price of a million tokens'],
    [{ output: '3' }, 'input', 'write input, the price of a million tokens'],
    [{ input: '3', output: '1', input_per_million: '3' }, 'input', 'the same as input_per_million; leave one out'],
    [{ input: '3', output: '1', cached_inptu: '3' }, undefined, 'unknown key "cached_inptu"'],
    [{ input: '3', output: '1', cached_input: 0.3 }, 'cached_input', 'write the price as a decimal string'],
    [{ input: '3', output: '1', cache_write: '-1' }, 'cache_write', 'write a decimal string in credits'],
  ])('refuses %j', (row, name, message) => {
    const [issue] = chatTokenPrices.safeParse(row).error?.issues ?? []
    expect(issue?.path[0]).toBe(name)
    expect(issue?.message).toContain(message)
  })
})

describe('embeddingTokenPrices', () => {
  it('takes either name', () => {
    expect(embeddingTokenPrices.parse({ input: '3' })).toStrictEqual({ input: '3' })
    expect(embeddingTokenPrices.parse({ input_per_million: '3' })).toStrictEqual({ input: '3' })
    expect(embeddingTokenPrices.safeParse({}).success).toBe(false)
  })
})
