import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { microcredits, parseCredits } from '#core/money.ts'
import { countedUsage } from '#core/pricing/usage.ts'
import {
  NoPriceError,
  type PriceLine,
  type PriceSnapshot,
  parseQuantity,
  snapshotPrices,
} from '#core/pricing/video-cost.ts'
import { countedVideo, type ReceiptRows, settleVideoCost, videoReceipt } from '#core/pricing/video-settlement.ts'
import { shippedModel } from '../shipped-catalogue.ts'
import { ESTIMATE, settle, settled, snapshot } from './settling.ts'

describe('settleVideoCost: the tier', () => {
  const tiers = snapshot(
    'per_request',
    { resolution: '480P', price: '1' },
    { resolution: '720P', audio: false, price: '2' },
    { resolution: '720P', audio: true, video_input: true, price: '3' },
    { resolution: '720P', audio: true, price: '4' },
  )

  it.each([
    ['asked for counts when nothing is reported', {}, '4'],
    ['reported wins: a smaller resolution', { resolution: '480P' }, '1'],
    ['reported wins: a silent video', { audio: false }, '2'],
    ['asked for counts when the one reported has no price', { resolution: '1080P' }, '4'],
    ['asked for counts whole, not in parts', { resolution: '1080P', audio: false }, '4'],
  ] as const)('%s', (_, result, amount) => {
    expect(settle({ snapshot: tiers, result }).amount).toBe(amount)
  })

  it('keeps the reference video that was asked with', () => {
    expect(settle({ snapshot: tiers, requested: { videoInput: true } }).amount).toBe('3')
  })

  it('throws when not even the tier asked for has a price: no configuration is accepted with such a gap', () => {
    expect(() => settle({ snapshot: tiers, requested: { resolution: '1080P' } })).toThrow(NoPriceError)
  })
})

describe('settleVideoCost: the overdraft', () => {
  it.each([
    ['4.99', '5', '0.01'],
    ['5', '5', '0'],
    ['5.01', '5', '0'],
  ])('of an estimate of %s is what %s costs beyond it: %s', (estimate, amount, overdraft) => {
    const settlement = settle({ snapshot: snapshot('per_second', {}), estimate, result: { billableSeconds: amount } })
    expect(settlement).toMatchObject({ amount, overdraft })
  })

  it('is never below nothing, and the amount never is', () => {
    const text = fc.oneof(fc.string(), fc.double().map(String), fc.nat().map(String), fc.constant(undefined))
    fc.assert(
      fc.property(
        fc.constantFrom('token', 'per_second', 'per_request'),
        text,
        text,
        (billing, usage, durationSeconds) => {
          const estimate = microcredits(700_000n)
          const settlement = settleVideoCost({
            estimate,
            snapshot: snapshot(billing, { price: '7' }),
            requested: { resolution: '720P', audio: true, videoInput: false },
            result: {
              videoUrl: undefined,
              completionTokens: usage,
              billableSeconds: usage,
              outputSeconds: undefined,
              resolution: undefined,
              audio: undefined,
            },
            durationSeconds,
          })
          expect(settlement.amount).toBeGreaterThanOrEqual(0n)
          expect(settlement.overdraft).toBe(settlement.amount > estimate ? settlement.amount - estimate : 0n)
        },
      ),
    )
  })
})

describe('settleVideoCost: frozen prices', () => {
  it('bill a running job as it was created, whatever the configuration says by then', () => {
    const model = shippedModel('famB-1.1-t2v')
    const stored: PriceSnapshot = JSON.parse(JSON.stringify(snapshotPrices(model, { videoInput: false })))
    const dearer = {
      ...model,
      billing: 'per_request' as const,
      prices: model.prices.map((row) => ({ ...row, price: '99' })),
    }
    expect(settle({ snapshot: stored, result: { billableSeconds: '5' } })).toMatchObject({
      amount: '0.7',
      billedAtEstimate: false,
    })
    const now = snapshotPrices(dearer, { videoInput: false })
    expect(settle({ snapshot: now, result: { billableSeconds: '5' } }).amount).toBe('99')
  })
})

const NOT_ODD = { billedAtEstimate: false, usageRefused: false, usageAboveBound: false }
const billed = (amount: string) => ({ amount, overdraft: '0', ...NOT_ODD })
const atBound = (amount: string) => ({ ...billed(amount), usageAboveBound: true })
const atEstimate = (usageRefused: boolean) => ({ ...billed(ESTIMATE), billedAtEstimate: true, usageRefused })

describe('settleVideoCost by token', () => {
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

describe('settleVideoCost by second', () => {
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

describe('settleVideoCost by request', () => {
  it.each([undefined, '0', '-5', '75'])('bills the price whatever the usage says (%j)', (usage) => {
    const result = { completionTokens: usage, billableSeconds: usage }
    const fixed = snapshot('per_request', { price: '0.25' })
    expect(settle({ snapshot: fixed, result, durationSeconds: usage })).toStrictEqual(billed('0.25'))
  })
})

describe('countedUsage of a settlement', () => {
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

const requested = { videoInput: false }

describe('countedVideo', () => {
  it.each([
    ['per_second', '10.04', '5', { videoMilliseconds: 10_040 }],
    ['per_second', '13.239999999999998', undefined, { videoMilliseconds: 13_240 }],
    ['per_second', undefined, '5', {}],
    ['token', '108900', '5.04', { outputTokens: 108_900, videoMilliseconds: 5_040 }],
    ['token', undefined, '5', { videoMilliseconds: 5_000 }],
    ['token', '9', 'NaN', { outputTokens: 9 }],
    ['per_request', '1', '5', { videoMilliseconds: 5_000 }],
    ['per_request', '1', undefined, {}],
  ] as const)('%s: a quantity of %s and a length of %s', (billing, text, durationSeconds, counts) => {
    const quantity = parseQuantity(text)
    expect(countedVideo({ billing, quantity, durationSeconds, requested })).toStrictEqual(countedUsage(counts))
  })

  it('counts no length above the longest that any model makes', () => {
    const video = { billing: 'per_request', quantity: undefined, durationSeconds: '999999999999999' } as const
    expect(countedVideo({ ...video, requested }).videoMilliseconds).toBe(15_000)
    expect(countedVideo({ ...video, requested: { videoInput: true } }).videoMilliseconds).toBe(615_000)
  })
})

const JOB = '01a1fc2e-81af-73ac-ac94-a565c804e433'

function line(quantity: string, amount: string): PriceLine {
  return { what: 'video', quantity, unit: 'second', unitPrice: '0.14', amount: parseCredits(amount) }
}

const reserve: ReceiptRows['reserve'] = {
  amount: parseCredits('0.7'),
  at: 1_795_263_797_500,
  lines: [line('5', '0.7')],
  model: 'famB-1.1-t2v',
  billing: 'per_second',
}

function receipt(resolution: Partial<NonNullable<ReceiptRows['resolution']>> | undefined) {
  const ended = { kind: 'settle', amount: parseCredits('0.7'), at: 1_795_263_862_000, lines: undefined } as const
  const actual = parseCredits('0.7056')
  const resolved = resolution === undefined ? undefined : { ...ended, actual, ...resolution }
  return videoReceipt(JOB, { reserve, resolution: resolved })
}

const shown = { what: 'video', quantity: '5.04', unit: 'second', unit_price: '0.14', amount: '0.7056' }

describe('videoReceipt', () => {
  it('has no cost and no lines while the job is open', () => {
    expect(receipt(undefined)).toEqual({
      object: 'video.receipt',
      id: JOB,
      model: 'famB-1.1-t2v',
      billing: 'per_second',
      estimate: '0.7',
      cost: null,
      lines: [],
      ledger: [{ kind: 'reserve', amount: '0.7', actual: null, at: 1_795_263_797 }],
    })
  })

  it('has the lines of a settlement', () => {
    expect(receipt({ lines: [line('5.04', '0.7056')] })).toMatchObject({
      cost: '0.7056',
      lines: [shown],
      ledger: [{ kind: 'reserve' }, { kind: 'settle', amount: '0.7', actual: '0.7056', at: 1_795_263_862 }],
    })
  })

  it('has the lines of the estimate if that was billed', () => {
    const billed = receipt({ actual: parseCredits('0.7') })
    expect(billed).toMatchObject({ cost: '0.7', lines: [{ quantity: '5', amount: '0.7' }] })
  })

  it('costs nothing after a release', () => {
    expect(receipt({ kind: 'release', actual: parseCredits('0') })).toMatchObject({
      cost: '0',
      lines: [],
      ledger: [{ kind: 'reserve' }, { kind: 'release', actual: null }],
    })
  })
})
