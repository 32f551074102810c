import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  closingQuote,
  repeatedMember,
  replaceMembers,
  topLevelMembers,
  withoutMembers,
} from '#core/json/json-members.ts'

describe('a JSON object without some of its members', () => {
  it.each([
    ['{"a":1,"b":2,"c":3}', '{"b":2}'],
    ['{ "a" : [1,{"b":1}] , "b" : 2.0 }', '{ "b" : 2.0 }'],
    ['{"b":{"a":1},"\\u0061":"}","c":null}', '{"b":{"a":1}}'],
    ['{"a":1,"a":2 }', '{ }'],
    ['{}', '{}'],
    [' {"b":1} ', ' {"b":1} '],
  ])('of %s keeps every other byte', (json, kept) => {
    expect(withoutMembers(json, new Set(['a', 'c']))).toBe(kept)
  })

  it('means what the object means without them', () => {
    const objects = fc.dictionary(fc.constantFrom('a', 'b', 'c', ',', '"', '}'), fc.jsonValue())
    const spaces = fc.constantFrom(undefined, 2)
    fc.assert(
      fc.property(objects, spaces, (object, space) => {
        const { a, c, ...rest }: Record<string, unknown> = JSON.parse(JSON.stringify(object))
        expect(JSON.parse(withoutMembers(JSON.stringify(object, null, space), new Set(['a', 'c'])))).toStrictEqual(rest)
      }),
    )
  })
})

describe('the top-level members of a JSON object', () => {
  const values = fc.jsonValue().map((value) => JSON.stringify(value))
  const name = fc.string({ unit: fc.constantFrom('a', '"', '\\', '{', ']', ',', ':', ' ', 'é', '漢'), maxLength: 6 })
  const members = fc.array(fc.tuple(name, values), { maxLength: 8 })
  const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 })

  it('are found whatever their names, their values and the white space around them hold', () => {
    fc.assert(
      fc.property(members, space, (list, gap) => {
        const json = `${gap}{${list.map(([key, value]) => `${gap}${JSON.stringify(key)}${gap}:${gap}${value}${gap}`).join(',')}}`
        const found = Array.from(topLevelMembers(json), (each) => [
          each.name,
          json.slice(each.valueStart, each.valueEnd),
        ])
        expect(found).toStrictEqual(list)
      }),
    )
  })

  it('are decoded', () => {
    expect(repeatedMember('{"\\u006e":1,"n":2}')).toBe('n')
    expect(repeatedMember('{"a\\"":1,"a":{"b":1,"b":2}}')).toBeUndefined()
    expect(replaceMembers('{"\\u0061":[1,"]"],"b":2}', new Map([['a', '0']]))).toBe('{"\\u0061":0,"b":2}')
  })
})

describe('the end of a string', () => {
  it.each([
    ['""', 1],
    ['"\\""', 3],
    ['"\\\\"', 3],
    ['"\\\\\\"" "', 5],
    ['"never closed', 13],
    ['"never closed\\"', 15],
  ])('of %s is at %i', (text, end) => {
    expect(closingQuote(text, 0)).toBe(end)
  })
})
