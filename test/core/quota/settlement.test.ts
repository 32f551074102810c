import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { VideoPriceTier } from '#core/catalogue/video-price.ts'
import type { VideoResult } from '#core/jobs/video-result.ts'
import { formatCredits, microcredits, parseCredits } from '#core/quota/money.ts'
import { type PriceSnapshot, snapshotPrices } from '#core/quota/price-snapshot.ts'
import { settleVideoCost } from '#core/quota/settlement.ts'
import { NoPriceError } from '#core/quota/video-cost.ts'
import { shippedModel } from '../shipped-catalogue.ts'

const ESTIMATE = '9.99'

function snapshot(
  billing: PriceSnapshot['billing'],
  ...prices: Partial<PriceSnapshot['prices'][number]>[]
): PriceSnapshot {
  const rows = prices.map(
    (row) => ({ resolution: 'any', audio: 'any', video_input: 'any', price: '1', ...row }) as const,
  )
  return { billing, prices: rows }
}

type Case = {
  snapshot: PriceSnapshot
  estimate?: string
  requested?: Partial<VideoPriceTier>
  result?: Partial<VideoResult>
  durationSeconds?: string | undefined
}

function settle({ snapshot: prices, estimate = ESTIMATE, requested, result, durationSeconds }: Case) {
  const { amount, overdraft, ...flags } = settleVideoCost({
    estimate: parseCredits(estimate),
    snapshot: prices,
    requested: { resolution: '720P', audio: true, videoInput: false, ...requested },
    result: {
      videoUrl: undefined,
      completionTokens: undefined,
      billableSeconds: undefined,
      outputSeconds: undefined,
      resolution: undefined,
      audio: undefined,
      ...result,
    },
    durationSeconds,
  })
  return { amount: formatCredits(amount), overdraft: formatCredits(overdraft), ...flags }
}

const billed = (amount: string) => ({ amount, overdraft: '0', billedAtEstimate: false, usageRefused: false })
const atEstimate = (usageRefused: boolean) => ({ ...billed(ESTIMATE), billedAtEstimate: true, usageRefused })

describe('token billing', () => {
  const tokens = snapshot('token', { price: '7.00' })

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

  it.each([
    '-5',
    String(JSON.parse('1e309')),
    String(1e18),
    String(1e21),
    'NaN',
    '"12"',
    '1e3',
    '+5',
    '1000000001',
    ' 12',
    '٣',
  ])('refuses %s tokens, bills the estimate and says so', (completionTokens) => {
    expect(settle({ snapshot: tokens, result: { completionTokens } })).toStrictEqual(atEstimate(true))
  })

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
  const seconds = snapshot('per_second', { price: '0.14' })

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

  it.each(['-5', 'Infinity', '3601', 'NaN'])(
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

describe('the tier', () => {
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

describe('the overdraft', () => {
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

describe('the frozen prices', () => {
  it('bill a running job as it was created, whatever the configuration says by then', () => {
    const model = shippedModel('famB-1.1-t2v')
    const stored: PriceSnapshot = JSON.parse(JSON.stringify(snapshotPrices(model)))
    const dearer = {
      ...model,
      billing: 'per_request' as const,
      prices: model.prices.map((row) => ({ ...row, price: '99' })),
    }
    expect(settle({ snapshot: stored, result: { billableSeconds: '5' } })).toStrictEqual(billed('0.7'))
    expect(settle({ snapshot: snapshotPrices(dearer), result: { billableSeconds: '5' } }).amount).toBe('99')
  })
})
