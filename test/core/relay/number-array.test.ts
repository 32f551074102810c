import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UnexpectedJsonError } from '#core/relay/json-bytes.ts'
import { endOfNumbers } from '#core/relay/number-array.ts'

function isWhole(text: string): boolean {
  try {
    return endOfNumbers(Buffer.from(text), 0) === text.length
  } catch (error) {
    expect(error).toBeInstanceOf(UnexpectedJsonError)
    return false
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('an array of numbers', () => {
  it('is taken whenever a JSON parser takes it, and refused whenever it does not', () => {
    const pieces = fc.constantFrom(...'0123456789+-.eE, \t\n\r', '-0', '0.', '1e', '12', '-1.5E+3', ', ', 'x', '\v')
    const texts = fc.oneof(
      fc.string({ unit: pieces, maxLength: 6 }),
      fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 5 }).map(String),
    )
    fc.assert(
      fc.property(texts, (inside) => {
        const text = `[${inside}]`
        expect(isWhole(text)).toBe(isJson(text))
      }),
      { numRuns: 3_000 },
    )
  })

  it('ends at its bracket, whatever follows', () => {
    expect(endOfNumbers(Buffer.from('{"a":[ 1, -2.50e-3 ],"b":[,]}'), 5)).toBe(20)
  })

  it.each(['', '[', '[1', '[1.', '[0.12', '[1,', '5', '{}'])('that is %j has no end', (text) => {
    expect(() => endOfNumbers(Buffer.from(text), 0)).toThrow(UnexpectedJsonError)
  })
})
