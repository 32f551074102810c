import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { withoutMembers } from '#core/json-members.ts'

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
