import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  amountString,
  compareAmounts,
  creditWords,
  parseAmount,
  percentOf,
  readableAmount,
  roundedAmount,
  sumAmounts,
} from '#web/core/amount.ts'
import { priceWords } from '#web/core/price-words.ts'
import { Statement } from '#web/core/statement.ts'

const millionths = fc.bigInt(-(10n ** 18n), 10n ** 18n)

describe('amount', () => {
  it('adds exactly what floating-point numbers would round', () => {
    expect(sumAmounts(['0.1', '0.2', '900719925474.099271', null, undefined])).toBe('900719925474.399271')
    expect(sumAmounts(['0.7', '-0.7'])).toBe('0')
    expect(sumAmounts([])).toBe('0')
  })

  it('reads back every amount that it writes', () => {
    fc.assert(fc.property(millionths, (amount) => parseAmount(amountString(amount)) === amount))
  })

  it('takes nothing for an amount that the API would not write', () => {
    const wrong = ['', '1e3', '0x10', '1,000', '.5', '1.', '0.0000001', 'NaN', '१२']
    expect(wrong.map(parseAmount)).toEqual(wrong.map(() => undefined))
    expect(sumAmounts(wrong)).toBe('0')
  })

  it.each([
    ['1234.5', '1,234.50'],
    ['0.000412', '0.000412'],
    ['0', '0.00'],
    ['-1000000', '−1,000,000.00'],
    ['12.340000', '12.34'],
    ['<b>', '<b>'],
  ])('shows %s as %s', (amount, readable) => {
    expect(readableAmount(amount)).toBe(readable)
  })

  it('shows the sign of a credit only where it is asked for', () => {
    expect([readableAmount('5', { isSigned: true }), readableAmount('0', { isSigned: true })]).toEqual([
      '+5.00',
      '0.00',
    ])
  })

  it('never loses a digit between reading and showing', () => {
    fc.assert(
      fc.property(millionths, (amount) => {
        const shown = readableAmount(amountString(amount)).replaceAll(',', '').replace('−', '-')
        return parseAmount(shown) === amount
      }),
    )
  })

  it('rounds a share down, so that 99.9 percent is not all', () => {
    expect([percentOf('99.99', '100'), percentOf('8', '10'), percentOf('1', '0'), percentOf('5', '4')]).toEqual([
      99, 80, 0, 125,
    ])
  })

  it('orders by value and not by letters', () => {
    expect(['10', '9', '-1', '0.5'].toSorted(compareAmounts)).toEqual(['-1', '0.5', '9', '10'])
  })

  it('has the singular for exactly one credit', () => {
    expect(['1', '1.0', '0.5', '-1', '0'].map(creditWords)).toEqual([
      '1 credit',
      '1.0 credit',
      '0.5 credits',
      '-1 credits',
      '0 credits',
    ])
  })
})

describe('priceWords', () => {
  it('says the price of a second with what it depends on', () => {
    const prices = [{ price: '0.14', resolution: '720P', audio: false, video_input: 'any' }]
    expect(priceWords({ billing: 'per_second', prices })).toEqual(['0.14 a second, 720P, without audio'])
  })

  it('says the prices of tokens in their order', () => {
    const prices = [{ output: '10', input: '2.5', cached_input: '1.25', cache_write: '3' }]
    expect(priceWords({ billing: 'token', prices })).toEqual(['2.5 in / 1.25 cached / 10 out a million tokens'])
  })

  it('has no word for a model without a price', () => {
    expect(priceWords({ billing: 'per_image', prices: [] })).toEqual([])
  })
})

describe('Statement', () => {
  it('leads from the opening balance by what was granted, adjusted and spent to the closing one, exactly and over pages', () => {
    const statement = new Statement()
    statement.add([
      { kind: 'settle', amount: '3', actual: '0.000412' },
      { kind: 'grant', amount: '50', actual: null },
      { kind: 'reserve', amount: '1', actual: null },
    ])
    statement.add([
      { kind: 'settle', amount: '0.7', actual: '0.8' },
      { kind: 'release', amount: '1', actual: null },
      { kind: 'adjust', amount: '-5', actual: null },
    ])
    expect(statement.change()).toBe('44.199588')
    expect(statement.lines('10')).toEqual([
      { what: 'Opening balance', count: null, amount: '10' },
      { what: 'Granted', count: 1, amount: '50' },
      { what: 'Adjusted', count: 1, amount: '-5' },
      { what: 'Spent', count: 2, amount: '-0.800412' },
      { what: 'Closing balance', count: null, amount: '54.199588' },
    ])
  })

  it('closes without a row as it opens', () => {
    expect(new Statement().lines('7').map(({ what, amount }) => `${what} ${amount}`)).toEqual([
      'Opening balance 7',
      'Granted 0',
      'Spent 0',
      'Closing balance 7',
    ])
  })
})

describe('roundedAmount', () => {
  it.each([
    ['392.91081', '392.91'],
    ['1234.995', '1,235.00'],
    ['-17.985338', '−17.99'],
    ['1', '1.00'],
    ['0.000412', '0.000412'],
    ['-0.5', '−0.50'],
  ])('shows %s at a glance as %s', (amount, shown) => {
    expect(roundedAmount(amount)).toBe(shown)
  })

  it('shows the sign of a credit only where it is asked for', () => {
    expect([roundedAmount('5.001', { isSigned: true }), roundedAmount('-5.001')]).toEqual(['+5.00', '−5.00'])
  })
})
