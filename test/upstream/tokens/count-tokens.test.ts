import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { Tiktoken } from 'js-tiktoken/lite'
import cl100kBase from 'js-tiktoken/ranks/cl100k_base'
import { countMerged, countTokens } from '#upstream/tokens/count-tokens.ts'
import type { RankLookup } from '#upstream/tokens/token-ranks.ts'
import { ranks, runSteps } from './written-ranks.ts'

const reference = new Tiktoken(cl100kBase)
/** With no special token allowed and none forbidden, their names are ordinary text. */
const expected = (text: string) => reference.encode(text, [], []).length
const count = (text: string, limit = Number.POSITIVE_INFINITY) => runSteps(countTokens(text, ranks, limit)).value

const TEXTS: readonly (readonly [what: string, text: string])[] = [
  ['nothing', ''],
  ['a sentence', 'The quick brown fox jumps over the lazy dog.'],
  ['contractions in both cases', "I'm sure they'LL say we've, you'd, it'S, DON'T and o'clock"],
  ['each contraction', "'s'S't'T're'rE'Re'RE've'vE'Ve'VE'm'M'll'lL'Ll'LL'd'D'sx'Sx'lLx'DX"],
  ['code', 'const sum = (a: number[]): number =>\n\t\ta.reduce((x, y) => x + y, 0) // 1_000_000\r\n'],
  ['special-token look-alikes', '<|endoftext|> <|fim_prefix|><|endofprompt|> <|im_start|>user'],
  ['digits', '1 12 123 1234 12345 3.14159e-10 ٣٤٥ Ⅻ ½'],
  ['Chinese, Japanese and Korean', '今天天气很好。ひらがなとカタカナ、한국어도 있습니다！'],
  ['letters beyond the basic plane', '𠀀𠮷𝒜𝔅 and 𐍈'],
  ['emoji and their joiners', '😀 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪'],
  ['right to left', 'שלום עולם، مرحبا بالعالم'],
  ['accents, joined and apart', 'Ä Ä é é ﬁ ß ẞ Straße naïve'],
  ['half a surrogate pair', 'a\ud800b\udc00 \ud83d'],
  ['control characters', '\u0000\u0001\u007f\u0085\u200b\ufeff\u2028\u2029'],
  ['white space of every kind', ' \t  \n\n \r\n\u00a0\u3000 x  y \n z   '],
  ['one letter, many times', 'a'.repeat(700)],
  ['letters of no word', 'xqzvkjwpfy'.repeat(60)],
  ['one character of three bytes, many times', '漢'.repeat(200)],
  ['one emoji, many times', '😀'.repeat(150)],
  ['spaces', ' '.repeat(600)],
  ['spaces before a letter', `${' '.repeat(300)}x`],
  ['lines', '\n'.repeat(300)],
  ['dashes', '-'.repeat(500)],
  ['base64', 'TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlz'],
  ['JSON', '{"a":[1,2,{"b":null}],"c":"\\u00e9","d":-1.5e+10}'],
]

describe('the tokens of a text', () => {
  it.each(TEXTS)('of %s are those of the reference', (_, text) => {
    expect(count(text)).toBe(expected(text))
  })

  it('are known as numbers of their own', () => {
    expect(count('hello world')).toBe(2)
    expect(count('antidisestablishmentarianism')).toBe(6)
    expect(count('<|endoftext|>')).toBe(7)
  })

  it('are those of the reference, whatever the text', () => {
    const scripts = fc.constantFrom(
      'a',
      'B',
      "'s",
      "'LL",
      ' ',
      '\n',
      '\r\n',
      '\t',
      '7',
      '漢',
      '語',
      'é',
      '😀',
      '-',
      '<|',
      '|>',
      '\u3000',
    )
    const passages = fc.array(fc.oneof(scripts, fc.string({ unit: 'binary' }), fc.lorem({ maxCount: 5 })), {
      maxLength: 30,
    })
    fc.assert(
      fc.property(passages, (parts) => {
        const text = parts.join('')
        expect(count(text)).toBe(expected(text))
      }),
      { numRuns: 400 },
    )
  })

  it('are those of the reference for runs of few different letters, where merges overlap', () => {
    const runs = fc.string({ unit: fc.constantFrom('a', 'b', 'e', 's', 't'), minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(runs, (text) => {
        expect(count(text)).toBe(expected(text))
      }),
      { numRuns: 400 },
    )
  })

  it('are never more than the bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => count(text) <= Buffer.byteLength(text)),
    )
  })

  it('are counted exactly up to the limit, and are above it beyond', () => {
    fc.assert(
      fc.property(fc.lorem({ maxCount: 40 }), fc.nat({ max: 80 }), (text, limit) => {
        const exact = count(text)
        const limited = count(text, limit)
        return exact <= limit ? limited === exact : limited > limit
      }),
    )
  })

  it('are cut into pieces by the pattern of the vocabulary', () => {
    const pieces: string[] = []
    const byPiece: RankLookup = {
      rankOf: (bytes, start, end) => {
        pieces.push(Buffer.from(bytes.subarray(start, end)).toString())
        return 0
      },
    }
    for (const [, text] of TEXTS) {
      runSteps(countTokens(text, byPiece, Number.POSITIVE_INFINITY))
    }
    const pattern = new RegExp(cl100kBase.pat_str, 'gu')
    const wanted = TEXTS.flatMap(([, text]) => text.match(pattern) ?? [])
    expect(pieces).toStrictEqual(wanted.map((piece) => piece.toWellFormed()))
  })
})

describe('the work of counting', () => {
  /** The real ranks, and how often they were asked. */
  function countedRanks() {
    const lookups = { count: 0 }
    const counting: RankLookup = {
      rankOf: (bytes, start, end) => {
        lookups.count += 1
        return ranks.rankOf(bytes, start, end)
      },
    }
    return { lookups, counting }
  }

  it.each([
    ['one letter', 'a'],
    ['a long word', 'rawdownloadcloneembedreportprint'],
    ['letters of no word', 'xqzvkjwpfy'],
    ['spaces', ' '],
    ['dashes', '-'],
    ['ideographs', '漢字'],
  ])('of %s without end grows with the length, not with its square', (_, part) => {
    const text = part.repeat(Math.ceil(200_000 / part.length))
    const { lookups, counting } = countedRanks()
    runSteps(countTokens(text, counting, Number.POSITIVE_INFINITY))
    expect(lookups.count).toBeLessThanOrEqual(3 * Buffer.byteLength(text))
  })

  // A pattern that took the square of these lengths would not come back for hours.
  it.each([
    ['spaces', ' '.repeat(2_000_000), 2],
    ['spaces before a letter', `${' '.repeat(2_000_000)}x`, 3],
    ['spaces and lines', ' \n'.repeat(1_000_000), 2],
    ['lines and letters', ' \nx'.repeat(500_000), 1_000_001],
    ['tabs before a letter', `${'\t'.repeat(2_000_000)}x`, 3],
    ['letters', 'a'.repeat(2_000_000), 2],
    ['signs', '-'.repeat(2_000_000), 2],
    ['emoji', '😀'.repeat(500_000), 2],
    ['quotes', "'".repeat(2_000_000), 2],
    ['digits', '1'.repeat(300_000), 100_001],
  ])('of splitting %s is linear', (_, text, piecesAtMost) => {
    const everythingIsAToken: RankLookup = { rankOf: () => 0 }
    const { value } = runSteps(countTokens(text, everythingIsAToken, Number.POSITIVE_INFINITY))
    expect(value).toBeLessThanOrEqual(piecesAtMost)
  })

  it.each([
    ['spaces', ' '.repeat(200_000)],
    ['one letter', 'a'.repeat(200_000)],
    ['words', 'word '.repeat(40_000)],
    ['ideographs', '漢字'.repeat(30_000)],
    ['a letter and lines', 'a\n'.repeat(100_000)],
  ])('of %s stops for others after each few thousand look-ups', (_, text) => {
    const { lookups, counting } = countedRanks()
    let most = 0
    let before = 0
    const steps = countTokens(text, counting, Number.POSITIVE_INFINITY)
    for (let isDone = false; !isDone; isDone = steps.next().done === true) {
      most = Math.max(most, lookups.count - before)
      before = lookups.count
    }
    expect(Math.max(most, lookups.count - before)).toBeLessThanOrEqual(20_000)
    expect(lookups.count).toBeGreaterThan(40_000)
  })

  it('ends once the limit is passed', () => {
    const { lookups, counting } = countedRanks()
    expect(runSteps(countTokens('word '.repeat(100_000), counting, 50)).value).toBe(51)
    expect(lookups.count).toBeLessThan(100)
  })
})

describe('merging pairs of bytes', () => {
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
