import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  AMOUNT_MICROCREDITS_MAX,
  affordableCount,
  divideHalfUp,
  formatCredits,
  InvalidAmountError,
  type Microcredits,
  microcredits,
  parseCredits,
  parseSignedCredits,
} from '#core/money.ts'
import { tokenChargeMax } from '#core/pricing/relay-cost.ts'
import { shippedCatalogue } from './shipped-catalogue.ts'

const amounts = fc.bigInt({ min: 0n, max: AMOUNT_MICROCREDITS_MAX }).map(microcredits)

describe('an amount of credits', () => {
  it('comes back from its text as it was', () => {
    fc.assert(fc.property(amounts, (amount) => parseCredits(formatCredits(amount)) === amount))
  })

  it('has one text, without trailing zeros', () => {
    fc.assert(fc.property(amounts, (amount) => /^(0|[1-9]\d*)(\.\d{0,5}[1-9])?$/.test(formatCredits(amount))))
  })

  it.each([
    ['0', 0n],
    ['0.0', 0n],
    ['0.000001', 1n],
    ['0.14', 140_000n],
    ['1', 1_000_000n],
    ['1.10', 1_100_000n],
    ['007', 7_000_000n],
    ['1000000000', AMOUNT_MICROCREDITS_MAX],
  ])('%s is %d microcredits', (text, amount) => {
    expect(parseCredits(text)).toBe(amount)
  })

  it.each([
    '',
    '.5',
    '5.',
    '-1',
    '+1',
    ' 1',
    '1 ',
    '1\n',
    '1e3',
    '0.0000001',
    '1,5',
    '0x10',
    'Infinity',
    'NaN',
    '١',
    '1000000000.000001',
    '10000000000',
    '9'.repeat(1000),
  ])('%j is none', (text) => {
    expect(() => parseCredits(text)).toThrow(InvalidAmountError)
  })

  it.each(['1000000000.000001', '10000000000', '99999999999', '9'.repeat(1000)])(
    '%j is too large, and told so',
    (text) => {
      expect(() => parseCredits(text)).toThrow('is too large: the most is 1000000000')
    },
  )

  it.each([
    [-1n, '-0.000001'],
    [-1_500_000n, '-1.5'],
    [-2_000_000n, '-2'],
  ])('of %d microcredits below nothing reads %s', (amount, text) => {
    expect(formatCredits(microcredits(amount))).toBe(text)
  })

  it.each([0, 1, -1, Number.MAX_SAFE_INTEGER])('may be the whole number %d', (value) => {
    expect(microcredits(value)).toBe(BigInt(value))
  })

  it.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('is never the inexact number %d', (value) => {
    expect(() => microcredits(value)).toThrow(InvalidAmountError)
  })
})

describe('divideHalfUp', () => {
  it.each([
    [0n, 3n, 0n],
    [1n, 2n, 1n],
    [3n, 2n, 2n],
    [1n, 3n, 0n],
    [2n, 3n, 1n],
    [499_999n, 1_000_000n, 0n],
    [500_000n, 1_000_000n, 1n],
    [10n, 5n, 2n],
  ])('%d / %d is %d', (numerator, denominator, quotient) => {
    expect(divideHalfUp(numerator, denominator)).toBe(quotient)
  })

  it('is never further than a half from the exact quotient, and a half goes up', () => {
    const positive = fc.bigInt({ min: 1n, max: 10n ** 24n })
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), positive, (numerator, denominator) => {
        const twiceError = 2n * (divideHalfUp(numerator, denominator) * denominator - numerator)
        return twiceError > -denominator && twiceError <= denominator
      }),
    )
  })
})

describe('parseSignedCredits: the amount', () => {
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

describe('affordableCount for a balance', () => {
  it('is the most output of a chat whose bound it holds: one token more would be too dear', () => {
    const model = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })
    if (model === undefined) {
      throw new TypeError('there is no chat model')
    }
    const numbers = { min: 1, max: 20_000 }
    fc.assert(
      fc.property(fc.integer(numbers), fc.integer({ min: 1, max: 8 }), fc.integer(numbers), (prompt, choices, have) => {
        const costOf = (outputTokensMax: number): Microcredits =>
          tokenChargeMax(model, { promptTokensMax: prompt, choices, outputTokensMax }).amount
        const available = microcredits(have)
        const count = affordableCount(available, { most: model.max_output_tokens, costOf })
        expect(count === 0 || costOf(count) <= available).toBe(true)
        expect(count === model.max_output_tokens || costOf(count + 1) > available).toBe(true)
      }),
    )
  })

  it('is nothing where the balance is below zero', () => {
    expect(affordableCount(microcredits(-1), { most: 10, costOf: (count) => microcredits(count) })).toBe(0)
  })
})
