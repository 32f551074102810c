import { describe, expect, it } from 'vitest'
import { logWord } from '#core/telemetry/log-word.ts'

describe('a word of an upstream in a log line', () => {
  it.each([
    ['POST_PROCESSING', 'POST_PROCESSING'],
    ['-5', '-5'],
    ['a\u001b[2J\nb\u2028c\u007f', 'a\\u001b[2J\\u000ab\\u2028c\\u007f'],
    ['\ud83d', '\\ud83d'],
  ])('of %j is %j: no character of it moves a cursor or ends the line', (text, logged) => {
    expect(logWord(text)).toBe(logged)
  })

  it('is cut where it is no word any more', () => {
    expect(logWord('x'.repeat(40))).toBe('x'.repeat(40))
    expect(logWord('x'.repeat(100_000))).toBe(`${'x'.repeat(40)}...`)
  })
})
