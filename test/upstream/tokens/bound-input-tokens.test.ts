import { readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { InvalidRequestError } from '#core/errors.ts'
import { boundInputTokens, readBundledRanks, TOKEN_BYTES_MAX } from '#upstream/tokens/bound-input-tokens.ts'
import type { RankLookup } from '#upstream/tokens/token-ranks.ts'
import { RANKS_FILE, ranks } from './written-ranks.ts'

const LIMIT = 20

/** One token a word. */
const words = (count: number) => Array(count).fill('hello').join(' ')

async function bound(texts: readonly string[]) {
  let reads = 0
  const readRanks = () => {
    reads += 1
    return ranks
  }
  const model = { max_input_tokens: LIMIT }
  const outcome = await boundInputTokens({ kind: 'texts', texts }, { model, readRanks }).catch((error: unknown) => {
    if (error instanceof InvalidRequestError) {
      return error.issues
    }
    throw error
  })
  return { outcome, reads }
}

const tooLong = (index: number) => [{ path: 'input', message: `\`input[${index}]\` must be at most 20 tokens` }]

describe('the tokens of texts', () => {
  it('are bounded by their bytes, the ranks unread, while these are within the limit', async () => {
    const texts = ['a', 'é', '漢字', '😀'.repeat(5), 'a'.repeat(LIMIT), '\ud800']
    expect(await bound(texts)).toStrictEqual({ outcome: [1, 2, 6, 20, 20, 3], reads: 0 })
  })

  it('are counted where the bytes are more', async () => {
    expect(await bound(['hello', words(4), words(LIMIT)])).toStrictEqual({ outcome: [5, 4, LIMIT], reads: 2 })
  })

  it('may be as many as the limit and not one more', async () => {
    expect(await bound([words(LIMIT)])).toMatchObject({ outcome: [LIMIT] })
    expect(await bound(['a', words(LIMIT + 1)])).toMatchObject({ outcome: tooLong(1) })
  })

  it('may have the most bytes that so many tokens can have', async () => {
    const longest = `${' '.repeat(TOKEN_BYTES_MAX)}`.repeat(LIMIT)
    expect(await bound([longest])).toStrictEqual({ outcome: [LIMIT], reads: 1 })
  })

  it('of a text that is too long for any tokens are refused uncounted, before others are counted', async () => {
    const certain = ' '.repeat(LIMIT * TOKEN_BYTES_MAX + 1)
    expect(await bound([words(LIMIT), certain])).toStrictEqual({ outcome: tooLong(1), reads: 0 })
  })

  it('never show the text in a refusal', async () => {
    const { outcome } = await bound([`secret ${words(100)}`])
    expect(JSON.stringify(outcome)).not.toContain('secret')
  })

  it('give other requests a turn between two long texts', async () => {
    const order: string[] = []
    const counted = bound([words(LIMIT), words(LIMIT)]).then(() => order.push('counted'))
    setImmediate(() => order.push('other'))
    await counted
    expect(order).toStrictEqual(['other', 'counted'])
  })

  it('give other requests a turn in the middle of a text', async () => {
    let turns = 0
    let isCounting = true
    const other = () => {
      turns += 1
      if (isCounting) {
        setImmediate(other)
      }
    }
    setImmediate(other)
    const model = { max_input_tokens: 8192 }
    const texts = [' '.repeat(8192 * TOKEN_BYTES_MAX)]
    await boundInputTokens({ kind: 'texts', texts }, { model, readRanks: () => ranks })
    isCounting = false
    expect(turns).toBeGreaterThan(200)
  })

  it('take the memory of two long texts at most, however many are counted at a time', async () => {
    const model = { max_input_tokens: 8192 }
    const texts = [' '.repeat(100_000)]
    const count = (readRanks: () => RankLookup) => boundInputTokens({ kind: 'texts', texts }, { model, readRanks })
    let lookups = 0
    const countingRanks: RankLookup = {
      rankOf: (bytes, start, end) => {
        lookups += 1
        return ranks.rankOf(bytes, start, end)
      },
    }
    await count(() => countingRanks)
    const lookupsOfOne = lookups
    const underWay = new Map<number, number>()
    let begun = 0
    let most = 0
    const watchedRanks = (): RankLookup => {
      const id = begun
      begun += 1
      return {
        rankOf: (bytes, start, end) => {
          underWay.set(id, (underWay.get(id) ?? 0) + 1)
          most = Math.max(most, underWay.size)
          if (underWay.get(id) === lookupsOfOne) {
            underWay.delete(id)
          }
          return ranks.rankOf(bytes, start, end)
        },
      }
    }
    await Promise.all(Array.from({ length: 6 }, () => count(watchedRanks)))
    expect({ begun, most }).toStrictEqual({ begun: 6, most: 2 })
  })

  it('give their place back when they are too long', async () => {
    const model = { max_input_tokens: 1000 }
    const options = { model, readRanks: () => ranks }
    for (let round = 0; round < 3; round += 1) {
      await expect(boundInputTokens({ kind: 'texts', texts: ['ab'.repeat(40_000)] }, options)).rejects.toThrow(
        InvalidRequestError,
      )
    }
    expect(await boundInputTokens({ kind: 'texts', texts: [' '.repeat(80_000)] }, options)).toStrictEqual([625])
  })
})

describe('tokens that the client has cut', () => {
  const model = { max_input_tokens: LIMIT }
  const readRanks = () => {
    throw new Error('the ranks were read')
  }

  it('are bounded by their number', async () => {
    const counts = [1, LIMIT]
    expect(await boundInputTokens({ kind: 'tokens', counts }, { model, readRanks })).toStrictEqual(counts)
  })

  it('are refused above the limit', async () => {
    const refusal = boundInputTokens({ kind: 'tokens', counts: [1, 2, LIMIT + 1] }, { model, readRanks })
    await expect(refusal).rejects.toMatchObject({ issues: tooLong(2) })
  })
})

describe('readBundledRanks', () => {
  it('reads the megabyte of JSON once per process', () => {
    expect(statSync(RANKS_FILE).size).toBeLessThan(1_000_000)
    expect(Object.keys(JSON.parse(readFileSync(RANKS_FILE, 'utf8')))).toStrictEqual(['encoding', 'bytes', 'lengths'])
    expect(readBundledRanks()).toBe(ranks)
  })
})
