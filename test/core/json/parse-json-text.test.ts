import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { isJsonObject, parseJsonObject, parseJsonText } from '#core/json/parse-json-text.ts'

/** Names whose escapes begin with the characters of others. */
const NAMES = ['\\', '\\u006', '\\n', '"', '\n', 'n', 'é', '__proto__', 'a', '']

/** As `JSON.stringify`, with each character of a name as an escape. */
function withEscapedNames(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(withEscapedNames).join(',')}]`
  }
  return typeof value === 'object' && value !== null
    ? `{${Object.entries(value).map(([name, each]) => `"${escaped(name)}" : ${withEscapedNames(each)}`)}}`
    : JSON.stringify(value)
}

function escaped(name: string): string {
  return Array.from({ length: name.length }, (_, index) => {
    return `\\u${name.charCodeAt(index).toString(16).padStart(4, '0')}`
  }).join('')
}

describe('parseJsonText', () => {
  it.each([
    ['{"q":1,"\\\\":1}', '{"q":1,"\\u006e":8}', { q: 1, n: 8 }],
    ['{"h":[],"\\\\":0}', '{"h":1,"\\"":2}', { h: 1, '"': 2 }],
    ['{"s":1,"\\\\n":1}', '[{"s":1,"\\na":2}]', [{ s: 1, '\na': 2 }]],
  ])('after %s, reads the names of %s as they are', (earlier, text, value) => {
    parseJsonText(earlier)
    // The day on which this fails, the engine is mended, and `JSON.parse` will do.
    expect(JSON.parse(text)).not.toStrictEqual(value)
    expect(parseJsonText(text)).toStrictEqual(value)
  })

  it('reads any value, whatever was read before, and whether names are escaped or not', () => {
    const { values } = fc.letrec<{ values: unknown }>((tie) => ({
      values: fc.oneof(
        { maxDepth: 4 },
        // JSON writes -0 as 0.
        fc.jsonValue({ maxDepth: 0 }).map((value) => (Object.is(value, -0) ? 0 : value)),
        fc.array(tie('values'), { maxLength: 3 }),
        fc
          .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), tie('values')), { selector: ([name]) => name, maxLength: 4 })
          .map((fields) => Object.fromEntries(fields)),
      ),
    }))
    fc.assert(
      fc.property(values, fc.constantFrom(undefined, 2), (value, space) => {
        expect(parseJsonText(JSON.stringify(value, null, space))).toStrictEqual(value)
        expect(parseJsonText(withEscapedNames(value))).toStrictEqual(value)
      }),
    )
  })

  it.each([
    ['{"a":1,"a":2,"\\u0062":3}', { a: 2, b: 3 }],
    ['{"\\u0061":1,"a":2}', { a: 2 }],
    [' [ { "\\t" : "}\\"," , "x" : [ ] } , 1e5 ] ', [{ '\t': '}",', x: [] }, 100000]],
    ['"\\u0061"', 'a'],
    ['["\\\\", ":"]', ['\\', ':']],
  ])('reads %s as JSON.parse does', (text, value) => {
    expect(parseJsonText(text)).toStrictEqual(value)
  })

  it.each(['', '{', '{"\\u0061":}', '{"\\u0061":1}}', '{"\\x":1}', '{"\\u0061" 1}'])('refuses %s', (text) => {
    expect(() => parseJsonText(text)).toThrow(SyntaxError)
  })
})

describe('a JSON object', () => {
  it.each([{}, { a: 1 }])('is told from other values: %j', (value) => {
    expect(isJsonObject(value)).toBe(true)
    expect(parseJsonObject(JSON.stringify(value))).toEqual(value)
  })

  it.each([null, [], [{}], 'text', 1, true])('is not %j', (value) => {
    expect(isJsonObject(value)).toBe(false)
    expect(parseJsonObject(JSON.stringify(value))).toBeUndefined()
  })

  it.each(['', '{', '{"a":1}x', 'undefined'])('is not read from a text that is no JSON: %j', (text) => {
    expect(parseJsonObject(text)).toBeUndefined()
  })
})
