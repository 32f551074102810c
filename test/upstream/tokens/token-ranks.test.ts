import { describe, expect, it } from '@jest/globals'
import cl100kBase from 'js-tiktoken/ranks/cl100k_base'
import { TOKEN_BYTES_MAX } from '#upstream/tokens/bound-input-tokens.ts'
import { ranks } from './written-ranks.ts'

/** The package writes one line: a mark, the rank of the first token, then all of them in base64. */
const [, , ...encoded] = cl100kBase.bpe_ranks.split(' ')
const tokens = encoded.map((text) => Buffer.from(text, 'base64'))

describe('the vocabulary as it is shipped', () => {
  it('has every token at its rank', () => {
    expect(tokens).toHaveLength(100_256)
    const wrong = tokens.filter((token, rank) => ranks.rankOf(token, 0, token.length) !== rank)
    expect(wrong).toStrictEqual([])
  })

  it('has no other token', () => {
    const known = new Set(tokens.map((token) => token.toString('latin1')))
    for (const token of tokens.slice(0, 5000)) {
      for (const changed of [Buffer.concat([token, Buffer.of(0)]), Buffer.from(token).reverse()]) {
        const isKnown = known.has(changed.toString('latin1'))
        expect(ranks.rankOf(changed, 0, changed.length) >= 0).toBe(isKnown)
      }
    }
    expect(ranks.rankOf(Buffer.alloc(1000, 0x20), 0, 1000)).toBe(-1)
  })

  it('finds a token anywhere in a string', () => {
    const bytes = Buffer.from('say hello!')
    expect(ranks.rankOf(bytes, 3, 9)).toBe(tokens.findIndex((token) => token.toString() === ' hello'))
    expect(ranks.rankOf(bytes, 0, 10)).toBe(-1)
  })

  it('has no token above the length that TOKEN_BYTES_MAX assumes', () => {
    expect(Math.max(...tokens.map((token) => token.length))).toBe(TOKEN_BYTES_MAX)
  })
})
