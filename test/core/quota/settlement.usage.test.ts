import { describe, expect, it } from 'vitest'
import { countedUsage } from '#core/quota/counted-usage.ts'
import { ESTIMATE, settle, settled, snapshot } from './settling.ts'

const NOT_ODD = { billedAtEstimate: false, usageRefused: false, usageAboveBound: false }
const billed = (amount: string) => ({ amount, overdraft: '0', ...NOT_ODD })
const atBound = (amount: string) => ({ ...billed(amount), usageAboveBound: true })
const atEstimate = (usageRefused: boolean) => ({ ...billed(ESTIMATE), billedAtEstimate: true, usageRefused })

describe('token billing', () => {
  const tokens = { ...snapshot('token', { price: '7.00' }), quantityMax: 1_000_000 }

  it.each([
    ['108900', '0.7623'],
    ['108900.0', '0.7623'],
    ['12', '0.000084'],
    ['1', '0.000007'],
    ['1000000', '7'],
  ])('bills %s tokens at %s', (completionTokens, amount) => {
    expect(settle({ snapshot: tokens, result: { completionTokens } })).toStrictEqual(billed(amount))
  })

  it.each([undefined, '0', '0.0', ''])(
    'bills the estimate when the upstream leaves tokens out (%j)',
    (completionTokens) => {
      expect(settle({ snapshot: tokens, result: { completionTokens } })).toStrictEqual(atEstimate(false))
    },
  )

  it.each(['-5', String(JSON.parse('1e309')), String(1e18), String(1e21), 'NaN', '"12"', '1e3', '+5', ' 12', '٣'])(
    'refuses %s tokens, bills the estimate and says so',
    (completionTokens) => {
      expect(settle({ snapshot: tokens, result: { completionTokens } })).toStrictEqual(atEstimate(true))
    },
  )

  it.each(['1000001', '1000000001', '1000000000000'])(
    'bills the bound of the model for %s tokens, and says so',
    (usage) => {
      expect(settle({ snapshot: tokens, result: { completionTokens: usage } })).toStrictEqual(atBound('7'))
    },
  )

  it('does not bill tokens by the second', () => {
    const result = { billableSeconds: '5' }
    expect(settle({ snapshot: tokens, result, durationSeconds: '5' })).toStrictEqual(atEstimate(false))
  })

  it('rounds half up, once, at the end', () => {
    const half = snapshot('token', { price: '0.5' })
    expect(settle({ snapshot: half, result: { completionTokens: '1' } }).amount).toBe('0.000001')
    expect(settle({ snapshot: half, result: { completionTokens: '3' } }).amount).toBe('0.000002')
    const below = snapshot('token', { price: '0.499999' })
    expect(settle({ snapshot: below, result: { completionTokens: '1' } }).amount).toBe('0')
  })
})

describe('per-second billing', () => {
  const seconds = { ...snapshot('per_second', { price: '0.14' }), quantityMax: 75 }

  it.each([
    ['5', '0.7'],
    ['5.0', '0.7'],
    ['13.24', '1.8536'],
    ['4.999', '0.69986'],
    ['13.239999999999998', '1.8536'],
    ['0.000001', '0'],
    ['75', '10.5'],
  ])('bills %s seconds at %s', (billableSeconds, amount) => {
    expect(settle({ snapshot: seconds, estimate: '10.5', result: { billableSeconds } })).toStrictEqual(billed(amount))
  })

  it('prefers the billable seconds to the length of the video', () => {
    const result = { billableSeconds: '13.24' }
    expect(settle({ snapshot: seconds, result, durationSeconds: '6.62' })).toStrictEqual(billed('1.8536'))
  })

  it.each([undefined, '0', ''])('takes the length of the video when there are none (%j)', (billableSeconds) => {
    expect(settle({ snapshot: seconds, result: { billableSeconds }, durationSeconds: '5.04' })).toStrictEqual(
      billed('0.7056'),
    )
  })

  it.each(['76.1', '3600', '999999999999999'])('bills the bound of the model for %s seconds, and says so', (usage) => {
    const settlement = settle({ snapshot: seconds, estimate: '10.5', result: { billableSeconds: usage } })
    expect(settlement).toStrictEqual(atBound('10.5'))
  })

  it.each(['75.04', '76'])('bills the bound for %s seconds, whose excess is rounding, and finds no fault', (usage) => {
    const settlement = settle({ snapshot: seconds, estimate: '10.5', result: { billableSeconds: usage } })
    expect(settlement).toStrictEqual(billed('10.5'))
  })

  it('bounds the length of the file too, which an upstream may have made up', () => {
    const settlement = settle({ snapshot: seconds, estimate: '10.5', durationSeconds: '4294967' })
    expect(settlement).toStrictEqual(atBound('10.5'))
  })

  it.each(['-5', 'Infinity', '1e9', 'NaN'])(
    'takes the length of the video for %s seconds, and says so',
    (billableSeconds) => {
      const settlement = settle({ snapshot: seconds, result: { billableSeconds }, durationSeconds: '5' })
      expect(settlement).toStrictEqual({ ...billed('0.7'), usageRefused: true })
    },
  )

  it.each([
    [undefined, undefined, false],
    ['0', '0', false],
    ['', '', false],
    ['-5', undefined, true],
    [undefined, '-5', true],
    ['1e9', '1e9', true],
  ])('bills the estimate when neither counts (%j, %j)', (billableSeconds, durationSeconds, usageRefused) => {
    const settlement = settle({ snapshot: seconds, result: { billableSeconds }, durationSeconds })
    expect(settlement).toStrictEqual(atEstimate(usageRefused))
  })
})

describe('per-request billing', () => {
  it.each([undefined, '0', '-5', '75'])('bills the price whatever the usage says (%j)', (usage) => {
    const result = { completionTokens: usage, billableSeconds: usage }
    const fixed = snapshot('per_request', { price: '0.25' })
    expect(settle({ snapshot: fixed, result, durationSeconds: usage })).toStrictEqual(billed('0.25'))
  })
})

describe('the counted usage', () => {
  it.each([
    [
      'tokens and length',
      'token',
      { completionTokens: '108900' },
      '5.04',
      { outputTokens: 108_900, videoMilliseconds: 5_040 },
    ],
    [
      'tokens up to the bound of the model',
      'token',
      { completionTokens: '2000001' },
      undefined,
      { outputTokens: 1_000_000 },
    ],
    ['billed seconds', 'per_second', { billableSeconds: '10.5' }, '5', { videoMilliseconds: 10_500 }],
    ['the length of a video at a fixed price', 'per_request', {}, '5', { videoMilliseconds: 5_000 }],
  ] as const)('is what is billed: %s', (_, billing, result, durationSeconds, counts) => {
    const prices = { ...snapshot(billing, {}), quantityMax: 1_000_000 }
    expect(settled({ snapshot: prices, result, durationSeconds }).usage).toStrictEqual(countedUsage(counts))
  })
})
