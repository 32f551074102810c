import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeItem, encodeItem } from '#adapters/store/table/item-codec.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'

const integer = fc.oneof(
  fc.maxSafeInteger(),
  fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }).filter((value) => !Number.isSafeInteger(Number(value))),
)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    integer,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(
      fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
      tie('any'),
      { maxKeys: 4 },
    ),
  ),
})).any
const item = fc.dictionary(
  fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
  value,
)

describe('an item', () => {
  it('is read back as it was written, whatever strings, numbers, lists and maps it holds', () => {
    fc.assert(
      fc.property(item, (original) => {
        expect(decodeItem(Object(parseJsonText(JSON.stringify(encodeItem(original)))))).toEqual({ ...original })
      }),
      { numRuns: 200 },
    )
  })

  it('leaves out what is undefined', () => {
    expect(encodeItem({ a: undefined, b: { c: undefined, d: '1' } })).toEqual({ b: { M: { d: { S: '1' } } } })
  })

  it('keeps fractions, and integers beyond the exact range of a double', () => {
    expect(
      decodeItem({ a: { N: '0.25' }, b: { N: '9007199254740993' }, c: { N: '-9007199254740993' }, d: { N: '12' } }),
    ).toEqual({
      a: 0.25,
      b: 9_007_199_254_740_993n,
      c: -9_007_199_254_740_993n,
      d: 12,
    })
  })

  it.each([[{ a: { B: 'AA==' } }], [{ a: { SS: ['b'] } }], [{ a: {} }]])(
    'with %j is refused: the table has no such attribute',
    (encoded) => {
      expect(() => decodeItem(encoded)).toThrow(expect.objectContaining({ name: 'UnknownAttributeError' }))
    },
  )

  it('with a function in it is refused', () => {
    expect(() => encodeItem({ a: () => 1 })).toThrow(expect.objectContaining({ name: 'UnknownAttributeError' }))
  })
})
