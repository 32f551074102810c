import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countMerged } from '#adapters/tokens/byte-pair-merge.ts'
import type { RankLookup } from '#adapters/tokens/token-ranks.ts'
import { runSteps } from './run-steps.ts'

/** Tokens in the order of their ranks. */
function vocabulary(tokens: readonly string[]): RankLookup {
  return { rankOf: (bytes, start, end) => tokens.indexOf(Buffer.from(bytes.subarray(start, end)).toString('latin1')) }
}

/** The rule as it is written down: search the whole list for the lowest rank, merge, begin again. */
function mergedBySearch(text: string, tokens: readonly string[]): string[] {
  const parts = [...text]
  for (;;) {
    const ranksOfPairs = parts.slice(1).map((part, index) => tokens.indexOf(`${parts[index]}${part}`))
    const lowest = Math.min(...ranksOfPairs.filter((rank) => rank >= 0))
    const at = ranksOfPairs.indexOf(lowest)
    if (at === -1) {
      return parts
    }
    parts.splice(at, 2, `${parts[at]}${parts[at + 1]}`)
  }
}

function count(text: string, tokens: readonly string[]): number {
  return runSteps(countMerged(Buffer.from(text, 'latin1'), text.length, vocabulary(tokens))).value
}

describe('merging pairs of bytes', () => {
  it.each([
    ['nothing when no pair is a token', 'abc', ['ca'], 3],
    ['the leftmost of equal pairs first', 'aaa', ['aa'], 2],
    ['the lowest rank first, wherever it stands', 'abc', ['bc', 'ab'], 2],
    ['what was merged before', 'abcd', ['ab', 'cd', 'abcd'], 1],
    ['no pair that a merge has taken a part of', 'abc', ['ab', 'bc'], 2],
    ['a single byte into itself', 'a', ['a'], 1],
  ])('merges %s', (_, text, tokens, parts) => {
    expect(count(text, tokens)).toBe(parts)
    expect(mergedBySearch(text, tokens)).toHaveLength(parts)
  })

  it('comes to the parts that a search of the whole list comes to', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 80 })
    const tokens = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2, maxLength: 8 }), {
      maxLength: 25,
    })
    fc.assert(
      fc.property(letters, tokens, (text, list) => {
        expect(count(text, list)).toBe(mergedBySearch(text, list).length)
      }),
      { numRuns: 1000 },
    )
  })
})
