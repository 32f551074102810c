import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { fieldTree, repeatedField, replaceFields, topLevelFields, withoutFields } from '#core/json/json-fields.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'

describe('withoutFields', () => {
  it.each([
    ['{"a":1,"b":2,"c":3}', '{"b":2}'],
    ['{ "a" : [1,{"b":1}] , "b" : 2.0 }', '{ "b" : 2.0 }'],
    ['{"b":{"a":1},"\\u0061":"}","c":null}', '{"b":{"a":1}}'],
    ['{"a":1,"a":2 }', '{ }'],
    ['{}', '{}'],
    [' {"b":1} ', ' {"b":1} '],
  ])('%s: keeps every other byte', (json, kept) => {
    expect(withoutFields(json, new Set(['a', 'c']))).toBe(kept)
  })

  it('leaves an object that means the same without the fields', () => {
    const objects = fc.dictionary(fc.constantFrom('a', 'b', 'c', ',', '"', '}'), fc.jsonValue())
    const spaces = fc.constantFrom(undefined, 2)
    fc.assert(
      fc.property(objects, spaces, (object, space) => {
        const { a, c, ...rest } = Object(parseJsonText(JSON.stringify(object)))
        expect(parseJsonText(withoutFields(JSON.stringify(object, null, space), new Set(['a', 'c'])))).toStrictEqual(
          rest,
        )
      }),
    )
  })
})

describe('topLevelFields', () => {
  const values = fc.jsonValue().map((value) => JSON.stringify(value))
  const name = fc.string({ unit: fc.constantFrom('a', '"', '\\', '{', ']', ',', ':', ' ', 'é', '漢'), maxLength: 6 })
  const fields = fc.array(fc.tuple(name, values), { maxLength: 8 })
  const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 })

  it('finds every field, whatever the names, the values and the white space hold', () => {
    fc.assert(
      fc.property(fields, space, (list, gap) => {
        const json = `${gap}{${list.map(([key, value]) => `${gap}${JSON.stringify(key)}${gap}:${gap}${value}${gap}`).join(',')}}`
        const found = Array.from(topLevelFields(json), (each) => [
          each.name,
          json.slice(each.valueStart, each.valueEnd),
        ])
        expect(found).toStrictEqual(list)
      }),
    )
  })

  it('decodes names', () => {
    expect(repeatedField('{"\\u006e":1,"n":2}')).toBe('n')
    expect(repeatedField('{"a\\"":1,"a":{"b":1,"b":2}}')).toBeUndefined()
    expect(replaceFields('{"\\u0061":[1,"]"],"b":2}', new Map([['a', '0']]))).toBe('{"\\u0061":0,"b":2}')
  })

  it('of a text that breaks off finds the fields that are complete', () => {
    const names = (json: string) => Array.from(topLevelFields(json), ({ name }) => name)
    expect(names('{"a":1,"b":[1,{"c":"')).toStrictEqual(['a'])
    expect(names('{"a":1 ')).toStrictEqual([])
    expect(names('{"a')).toStrictEqual([])
    expect(names('{"a":"x","b":true}')).toStrictEqual(['a', 'b'])
  })

  it('ends for any malformed text', () => {
    const marks = fc.string({ unit: fc.constantFrom('"', '{', '}', '[', ']', ':', ',', 'a', '1', ' ') })
    fc.assert(fc.property(marks, (text) => Array.from(topLevelFields(`{${text}`)).length <= text.length))
  })
})

describe('fieldTree', () => {
  it('has each path, with shared beginnings once', () => {
    expect(fieldTree(['a', 'b.c', 'b.d.e'])).toStrictEqual(
      new Map<string, unknown>([
        ['a', 'whole'],
        [
          'b',
          new Map<string, unknown>([
            ['c', 'whole'],
            ['d', new Map([['e', 'whole']])],
          ]),
        ],
      ]),
    )
  })

  it.each([[['a', 'a.b']], [['a.b', 'a']], [['a.b.c', 'a', 'a.d']]])(
    'has a field as a whole if one path of %j names it',
    (paths) => {
      expect(fieldTree(paths)).toStrictEqual(new Map([['a', 'whole']]))
    },
  )

  it('is empty without paths', () => {
    expect(fieldTree([])).toStrictEqual(new Map())
  })
})
