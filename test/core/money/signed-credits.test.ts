import { describe, expect, it } from 'vitest'
import { formatCredits } from '#core/money/money.ts'
import { parseSignedCredits } from '#core/money/signed-credits.ts'

describe('signed-credits: a signed amount', () => {
  it.each(['-5', '0.25', '-0.000001', '1000000000', '-1000000000'])('%s is read with its sign', (text) => {
    expect(formatCredits(parseSignedCredits(text))).toBe(text)
  })

  it.each(['', '-', '--5', '+5', '-5e3', '1,5', ' 1', '0x1', '1.0000001', '-1000000000.000001'])(
    '%j is refused',
    (text) => {
      expect(() => parseSignedCredits(text)).toThrow(/is not an amount|is too large/)
    },
  )

  it.each(['0', '-0', '0.000'])('%s is refused, because a correction of nothing is a mistake', (text) => {
    expect(() => parseSignedCredits(text)).toThrow(`${text}: use an amount other than zero`)
  })
})
