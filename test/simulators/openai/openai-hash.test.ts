import { describe, expect, it } from 'vitest'
import { hashText, mixBits } from '../../../lib/simulators/openai/openai-hash.ts'

const strings = Array.from({ length: 1_000 }, (_, index) => `string ${index}`)

describe('openai-hash', () => {
  it('is the same whole number of 32 bits each time', () => {
    for (const string of strings) {
      const hash = hashText(string)
      expect(hash).toBe(hashText(string))
      expect(hash >>> 0).toBe(hash)
    }
  })

  it.each([
    ['similar strings', strings.map(hashText)],
    ['neighbouring numbers', strings.map((_, index) => mixBits(index))],
  ])('spreads %s evenly', (_, hashes) => {
    expect(new Set(hashes).size).toBe(hashes.length)
    const inLowerHalf = hashes.filter((hash) => hash < 2 ** 31).length
    expect(inLowerHalf).toBeGreaterThan(400)
    expect(inLowerHalf).toBeLessThan(600)
  })
})
