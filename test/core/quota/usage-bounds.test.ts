import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readP1Result } from '#adapters/providers/p1/p1-reading.ts'
import { readP2Result } from '#adapters/providers/p2/p2-result.ts'
import { microcredits, parseCredits } from '#core/money/money.ts'
import type { Resolution } from '#core/parameters/video-parameters.ts'
import { type PriceSnapshot, snapshotPrices } from '#core/quota/price-snapshot.ts'
import { settleVideoCost } from '#core/quota/settlement.ts'
import { MODEL_ROWS } from '../interface-tables.ts'
import { shippedModel } from '../shipped-catalogue.ts'
import { settle } from './settling.ts'

/** JSON of whatever an upstream may write where a number belongs. */
const reported = fc.oneof(
  fc.double().map((value) => (Number.isFinite(value) ? String(value) : '1e309')),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc.nat({ max: 5_000 }).map(String),
  fc.double({ min: 0, max: 5_000, noNaN: true }).map((value) => value.toFixed(3)),
  fc.constantFrom('null', '"many"', '"12"', '"3600"', '[]', '{}', 'true', '-5', '1e309', '1e18', '1E3'),
)

const resolution = fc.constantFrom('480', '"720P"', '"1080p"', '1080', '"4K"', 'null')

/** Prices are in microcredits for a unit, or for a million tokens: rounded up, so that it is a bound. */
function dearest({ billing, prices, quantityMax }: PriceSnapshot): bigint {
  const price = prices.map((row) => parseCredits(row.price)).reduce((most, each) => (each > most ? each : most))
  const whole = price * BigInt(quantityMax)
  return billing === 'token' ? whole / 1_000_000n + 1n : whole
}

describe.each(MODEL_ROWS)('the bill of $id', ({ id }) => {
  const model = shippedModel(id)

  it('is never above what its model can make, nor below nothing, whatever an upstream reports', () => {
    const requested = fc.record({
      resolution: fc.constantFrom<Resolution>(...model.resolutions),
      audio: fc.boolean(),
      videoInput: model.videos.max === 0 ? fc.constant(false) : fc.boolean(),
    })
    fc.assert(
      fc.property(requested, reported, reported, resolution, fc.boolean(), (tier, first, second, made, isP1) => {
        const prices = snapshotPrices(model, tier)
        const text = isP1
          ? `{"usage":{"duration":${first},"output_video_duration":${second},"SR":${made}}}`
          : `{"usage":{"completion_tokens":${first}},"duration":${second},"resolution":${made}}`
        const result = isP1 ? readP1Result(text) : readP2Result(text)
        const estimate = microcredits(1n)
        const settlement = settleVideoCost({
          estimate,
          snapshot: prices,
          requested: tier,
          result,
          durationSeconds: result.outputSeconds,
        })
        expect(settlement.amount).toBeGreaterThanOrEqual(0n)
        expect(settlement.amount).toBeLessThanOrEqual(dearest(prices))
      }),
      { numRuns: 500 },
    )
  })
})

describe('a bill above the reservation', () => {
  it('stands where the model can have used it: a video that came out longer than asked for', () => {
    const prices = snapshotPrices(shippedModel('famB-1.1-t2v'), { videoInput: false })
    const settlement = settle({ snapshot: prices, estimate: '0.7', result: { billableSeconds: '10' } })
    expect(settlement).toMatchObject({ amount: '1.4', overdraft: '0.7', usageAboveBound: false })
  })

  it('ends at the longest video of the model: an hour for five seconds is fifteen', () => {
    const prices = snapshotPrices(shippedModel('famB-1.1-t2v'), { videoInput: false })
    const settlement = settle({ snapshot: prices, estimate: '0.7', result: { billableSeconds: '3600' } })
    expect(settlement).toMatchObject({ amount: '2.1', overdraft: '1.4', usageAboveBound: true })
  })
})
