import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { readValue, UnexpectedJsonError, walkElements, walkReply } from '#core/relay/json-bytes.ts'

/** The members that a walk finds, with their values. */
function membersOf(text: string): [string, unknown][] {
  const bytes = Buffer.from(text)
  const found: [string, unknown][] = []
  walkReply(bytes, (name, start) => {
    const { value, end } = readValue(bytes, start)
    found.push([name, value])
    return end
  })
  return found
}

describe('walkReply', () => {
  it('finds every member of an object with its value, as a parser does', () => {
    const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { noNullPrototype: true })
    fc.assert(
      fc.property(object, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(Object.fromEntries(membersOf(` ${text}\r\n`))).toEqual(parseJsonText(text))
      }),
    )
  })

  it('finds a repeated name each time', () => {
    expect(membersOf('{"a":1,"a":"\\"}"}')).toEqual([
      ['a', 1],
      ['a', '"}'],
    ])
  })

  it('refuses every object that is cut off', () => {
    const text = '{"a":[1,{"b":"\\\\"}],"c":"\\"","d":null}'
    expect(membersOf(text)).toHaveLength(3)
    for (let length = 0; length < text.length; length += 1) {
      expect(() => membersOf(text.slice(0, length))).toThrow(UnexpectedJsonError)
    }
  })

  it.each(['[]', '{} {}', '{"a" 1}', '{"a":1 "b":2}', '{a:1}', '\ufeff{}', '{"a":01}'])('refuses %j', (text) => {
    expect(() => membersOf(text)).toThrow(UnexpectedJsonError)
  })

  it.each(['{"a":secret}', '{"secret":1 "b"', '{"a":"secret'])('says nothing of %j in its error', (text) => {
    expect(() => membersOf(text)).toThrow(
      expect.objectContaining({ name: 'UnexpectedJsonError', message: expect.not.stringContaining('secret') }),
    )
  })
})

describe('walkElements', () => {
  it('finds every element, and the place after the array', () => {
    const bytes = Buffer.from('[1, [2], {"a":"]"} ]rest')
    const found: unknown[] = []
    const end = walkElements(bytes, 0, (start) => {
      const { value, end: valueEnd } = readValue(bytes, start)
      found.push(value)
      return valueEnd
    })
    expect(found).toEqual([1, [2], { a: ']' }])
    expect(bytes.subarray(end).toString()).toBe('rest')
  })
})
