import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatCredits, microcredits } from '#core/money.ts'
import { costAddition, costNumber } from '#core/relay/cost-field.ts'

describe('the cost that a client sees', () => {
  it('has the exact digits of the amount, as a spliced number and as a written one', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999n }).map(microcredits), (amount) => {
        const digits = formatCredits(amount)
        expect(costAddition({ index: 0, isAfterField: false }, amount).replacement).toBe(`"cost":${digits}`)
        expect(JSON.stringify({ cost: costNumber(amount) })).toBe(`{"cost":${digits}}`)
        expect(JSON.parse(digits)).toBe(costNumber(amount))
      }),
    )
  })

  it('follows a comma where a field is before it', () => {
    expect(costAddition({ index: 7, isAfterField: true }, microcredits(21))).toStrictEqual({
      start: 7,
      end: 7,
      replacement: ',"cost":0.000021',
    })
  })
})
