import { describe, expect, it } from 'vitest'
import { flag, matching, onOrOff, wholeNumber } from '../../lib/config/setting-shapes.ts'

describe('setting-shapes', () => {
  it.each([
    [flag, 'true', true],
    [flag, false, false],
    [onOrOff, 'on', 'on'],
    [onOrOff, 'false', 'off'],
    [wholeNumber(0, 100, 'percent'), '7', 7],
    [wholeNumber(0, 100, 'percent'), 0, 0],
    [matching(/^r-\d$/, 'must be r- and a digit'), 'r-1', 'r-1'],
  ])('read what is allowed', (shape, given, expected) => {
    expect(shape.parse(given)).toBe(expected)
  })

  it.each([
    [flag, '1', 'must be true or false'],
    [onOrOff, 'yes', 'must be on or off'],
    [wholeNumber(0, 100, 'percent'), '101', 'must be an integer from 0 to 100 (percent)'],
    [wholeNumber(0, 100, 'percent'), '1e1', 'must be an integer from 0 to 100 (percent)'],
    [matching(/^r-\d$/, 'must be r- and a digit'), 'r-', 'must be r- and a digit'],
  ])('refuse the rest, and say what is allowed', (shape, given, sentence) => {
    expect(() => shape.parse(given)).toThrow(sentence)
  })
})
