import { describe, expect, it } from 'vitest'
import { rawNumber, usageNumber } from '../../../lib/simulators/shared/raw-number.ts'

describe('raw-number', () => {
  it('writes a number as it is given', () => {
    expect(JSON.stringify({ n: rawNumber('5.00') })).toBe('{"n":5.00}')
  })

  it.each([
    [5, true, '5.0'],
    [5, false, '5'],
    [5.25, true, '5.25'],
  ])('writes the usage %j (as a float: %j) as %s', (value, isFloat, written) => {
    expect(JSON.stringify(usageNumber(value, isFloat))).toBe(written)
  })
})
