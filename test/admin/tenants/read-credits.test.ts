import { describe, expect, it } from 'vitest'
import { CommandValues } from '../../../lib/cli/admin/command.ts'
import { readCredits, readSignedCredits } from '../../../lib/cli/admin/read-options.ts'

const values = (option: string, text: string) => new CommandValues(new Map([[option, text]]))

describe('read-credits', () => {
  it('reads --credits, which is never negative', () => {
    expect(readCredits(values('credits', '0.25'))).toBe(250_000n)
    expect(() => readCredits(values('credits', '-1'))).toThrow('--credits "-1" is not an amount')
  })

  it.each([
    ['-5', -5_000_000n],
    ['-0.000001', -1n],
    ['2.50', 2_500_000n],
  ])('reads --amount %s with its sign', (text, amount) => {
    expect(readSignedCredits(values('amount', text))).toBe(amount)
  })

  it.each(['0', '-0', '0.000', '-0.0'])('refuses --amount %s, which changes nothing', (text) => {
    expect(() => readSignedCredits(values('amount', text))).toThrow(`--amount ${text}: use an amount other than zero`)
  })

  it.each(['-', '--5', '+5', '-5e3', '1,5'])('refuses --amount %j, which is no amount', (text) => {
    expect(() => readSignedCredits(values('amount', text))).toThrow(
      `--amount "${text}" is not an amount: write digits with at most six decimal places, such as "0.14" or "-5"`,
    )
  })

  it.each(['1000000000.000001', '-1000000001'])('refuses --amount %s, and says what the most is', (text) => {
    expect(() => readSignedCredits(values('amount', text))).toThrow('is too large: the most is 1000000000')
  })
})
