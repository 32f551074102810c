import { describe, expect, it } from 'vitest'
import {
  budgetField,
  endField,
  nameField,
  overlapField,
  positiveCreditsField,
  rowIdField,
  signedCreditsField,
} from '#core/console/request-fields.ts'

describe('request-fields', () => {
  it('say what is wrong with an amount', () => {
    for (const field of [positiveCreditsField, signedCreditsField]) {
      expect(field.safeParse('1.0000001').error?.issues).toMatchObject([
        { message: expect.stringContaining('1.0000001') },
      ])
      expect(field.safeParse(1).error?.issues).toMatchObject([{ message: expect.stringContaining('decimal string') }])
    }
  })

  it('read amounts exactly', () => {
    expect(positiveCreditsField.parse('0.000001')).toBe(1n)
    expect(signedCreditsField.parse('-5')).toBe(-5_000_000n)
    expect(budgetField.parse({ amount: '5', period: 'month' })).toEqual({ amount: 5_000_000n, kind: 'month' })
  })

  it.each([
    [
      positiveCreditsField,
      ['0', '0.0', '-1', '1e3', '', ' 1', '1.0000001', '1000000001', '9'.repeat(99), 1, null, ['1']],
    ],
    [signedCreditsField, ['0', '-0', '+1', '--1']],
    [rowIdField, ['', 'a b', 'a#b', 'a/b', 'x'.repeat(65), 7]],
    [nameField, ['', '  ', 'a\nb', 'a\u202eb', 'x'.repeat(201), '\ud800', `whsec_${'a'.repeat(20)}`]],
    [overlapField, [-1, 0.5, 1e9, '60']],
    [endField, [-1, 1.5, 1e13, '2027-01-01']],
  ])('%# refuse what has another form', (field, values) => {
    for (const value of values) {
      expect([value, field.safeParse(value).success]).toEqual([value, false])
    }
  })

  it('read names in every script', () => {
    expect(nameField.parse('Zoë & Söhne 株式会社 🎥')).toBe('Zoë & Söhne 株式会社 🎥')
  })
})
