import { describe, expect, it } from 'vitest'
import { fieldTree } from '#core/json/field-tree.ts'
import { removalEdits, withoutHidden } from '#core/json/remove-fields.ts'

const hidden = fieldTree(['x', 'a.x', 'a.b.x'])

describe('withoutHidden', () => {
  it.each([
    ['{"x":1}', '{}'],
    ['{"x":1,"b":2}', '{"b":2}'],
    ['{ "x" : 1 , "b":2 }', '{ "b":2 }'],
    ['{"b":2,"x":1}', '{"b":2}'],
    ['{"b":2 , "x":1 }', '{"b":2 }'],
    ['{"x":1,"b":2,"x":{"y":[1,"}"]},"c":3}', '{"b":2,"c":3}'],
    ['{"x":1,"x":2}', '{}'],
    ['{"a":{"x":1,"c":{"x":2}},"b":{"x":3}}', '{"a":{"c":{"x":2}},"b":{"x":3}}'],
    ['{"a":{"b":{"c":1,"x":2}}}', '{"a":{"b":{"c":1}}}'],
    ['{"a":[{"x":1}]}', '{"a":[{"x":1}]}'],
    ['{"\\u0078":1,"c":"x"}', '{"c":"x"}'],
    ['{"\\\\u0078":1}', '{"\\\\u0078":1}'],
    ['  {"x":1}', '  {}'],
    ['\ufeff{"x":1}', '\ufeff{}'],
    ['\xef\xbb\xbf\n{"x":1}', '\xef\xbb\xbf\n{}'],
    ['{"\\q":1,"x":1}', '{"\\q":1}'],
    ['{}', '{}'],
  ])('makes %s to %s', (json, left) => {
    expect(withoutHidden(json, hidden)).toBe(left)
  })

  it.each(['', 'x', '[{"x":1}]', '"x"', '<html>"x":1'])('leaves %s, which is no object', (text) => {
    expect(withoutHidden(text, hidden)).toBe(text)
  })

  it('removes the complete fields of an object that breaks off', () => {
    expect(withoutHidden('{"x":1,"b":2,"x":3', hidden)).not.toContain('"x":1')
  })

  it('takes linear time for many removed fields', () => {
    const count = 200_000
    const repeated = Array.from({ length: count }, () => '"x":1').join(',')
    const start = performance.now()
    expect(withoutHidden(`{${repeated},"a":{${repeated}}}`, hidden)).toBe('{"a":{}}')
    expect(performance.now() - start).toBeLessThan(5_000)
  })
})

describe('removalEdits', () => {
  it('tells where a field can be added', () => {
    const placeIn = (json: string) => removalEdits(json, 0, hidden).additionPlace
    expect(placeIn('{}')).toStrictEqual({ index: 1, isAfterField: false })
    expect(placeIn('{"b":2 }')).toStrictEqual({ index: 6, isAfterField: true })
    expect(placeIn('{"x":2}')).toStrictEqual({ index: 6, isAfterField: false })
    expect(placeIn('{"b":2,"x":1}')).toStrictEqual({ index: 12, isAfterField: true })
  })
})
