import { describe, expect, it } from 'vitest'
import { countTokens, limitText, splitWords } from '../../../lib/simulators/openai/openai-tokens.ts'

const STRING = 'Hello, extraordinary world!  漢字 and 12345678901'

describe('openai-tokens', () => {
  it.each([
    ['', 0],
    ['Hello', 1],
    ['extraordinary', 2],
    ['漢字', 2],
    [' a b', 2],
    ['!!!!!', 2],
    ['   ', 1],
  ])('counts %j as %i', (string, tokens) => {
    expect(countTokens(string)).toBe(tokens)
  })

  it('splits a string into words that join to it and whose tokens sum to its own', () => {
    const words = splitWords(STRING)
    expect(words.join('')).toBe(STRING)
    expect(words.map(countTokens).reduce((sum, count) => sum + count, 0)).toBe(countTokens(STRING))
  })

  it.each([
    [{ stops: [], tokensMax: 99 }, STRING, 'stop'],
    [{ stops: ['world', ','], tokensMax: 99 }, 'Hello', 'stop'],
    [{ stops: ['', 'nowhere'], tokensMax: 99 }, STRING, 'stop'],
    [{ stops: ['world'], tokensMax: 2 }, 'Hello,', 'length'],
  ])('ends a string by %j', (limits, text, finishReason) => {
    expect(limitText(STRING, limits)).toEqual({ text, finishReason })
  })
})
