import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { microcredits } from '#core/money/money.ts'
import { type PriceSnapshot, snapshotPrices } from '#core/quota/price-snapshot.ts'
import { settleVideoCost } from '#core/quota/settlement.ts'
import { NoPriceError } from '#core/quota/video-cost.ts'
import { shippedModel } from '../shipped-catalogue.ts'
import { settle, snapshot } from './settling.ts'

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
