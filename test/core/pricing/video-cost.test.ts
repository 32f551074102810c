import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { VideoModel } from '#core/catalogue/model.ts'
import { type AspectRatio, RESOLUTIONS, type VideoJobRequest } from '#core/catalogue/parameters.ts'
import { formatCredits, parseCredits } from '#core/money.ts'
import {
  anyVideoQuantityMax,
  completionTokensMax,
  estimateVideoLine,
  type PriceSnapshot,
  type Prices,
  parseQuantity,
  priceLineView,
  requestedTier,
  snapshotPrices,
  videoCost,
  videoPriceLine,
  videoQuantityMax,
  wholeQuantity,
} from '#core/pricing/video-cost.ts'
import { settleVideoCost } from '#core/pricing/video-settlement.ts'
import { MODEL_ROWS } from '../interface-tables.ts'
import { shippedConfig, shippedModel } from '../shipped-catalogue.ts'
import { FRAMES, tokensOf } from './upstream-frames.ts'

const prices: Prices = {
  billing: 'token',
  prices: [{ resolution: 'any', audio: 'any', video_input: 'any', price: '4.30' }],
}

describe('videoCost', () => {
  it('grows with the quantity', () => {
    const tier = { resolution: '720P', audio: true, videoInput: false } as const
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)]
        return videoCost(prices, tier, wholeQuantity(less)) <= videoCost(prices, tier, wholeQuantity(more))
      }),
    )
  })
})

describe('parseQuantity', () => {
  it('is exact for every decimal text', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 999_999 }), (whole, millionths) => {
        const quantity = parseQuantity(`${whole}.${String(millionths).padStart(6, '0')}`)
        return quantity !== undefined && quantity.numerator === BigInt(whole) * 1_000_000n + BigInt(millionths)
      }),
    )
  })

  it.each([undefined, '', '-1', '1.', '.1', '1e3', '0x1', '1 ', '9'.repeat(16), `0.${'1'.repeat(21)}`])(
    'does not read %j',
    (text) => {
      expect(parseQuantity(text)).toBeUndefined()
    },
  )
})

const tier = { resolution: '720P', audio: true, videoInput: false } as const
const row = { resolution: 'any', audio: 'any', video_input: 'any', price: '0.140' } as const
const seconds = (text: string) => parseQuantity(text) ?? wholeQuantity(0)

function line(
  billing: PriceSnapshot['billing'],
  quantity = wholeQuantity(1),
  price: Partial<PriceSnapshot['prices'][number]> = {},
) {
  return priceLineView(videoPriceLine({ billing, prices: [{ ...row, ...price }] }, tier, quantity))
}

describe('videoPriceLine', () => {
  it('shows seconds to the last digit, and the unit price without trailing zeros', () => {
    expect(line('per_second', seconds('5.040'))).toEqual({
      what: 'video',
      quantity: '5.04',
      unit: 'second',
      unit_price: '0.14',
      amount: '0.7056',
    })
    expect(line('per_second', wholeQuantity(10)).quantity).toBe('10')
    expect(line('per_second', seconds('0.5')).quantity).toBe('0.5')
  })

  it('shows tokens in the unit of their price', () => {
    const tokens = (count: number) => line('token', wholeQuantity(count), { price: '70' })
    expect(tokens(108_900)).toMatchObject({ quantity: '0.1089', unit: 'million tokens', amount: '7.623' })
    expect(tokens(2_000_000)).toMatchObject({ quantity: '2', amount: '140' })
    expect(tokens(7)).toMatchObject({ quantity: '0.000007', amount: '0.00049' })
  })

  it('shows one request whatever the quantity', () => {
    expect(line('per_request', wholeQuantity(9))).toMatchObject({ quantity: '1', unit: 'request', amount: '0.14' })
  })

  it('names the parts of the tier that the price depends on', () => {
    const { what } = line('per_second', wholeQuantity(1), { resolution: '720P', audio: true, video_input: false })
    expect(what).toBe('video, 720P, with audio, without video input')
  })

  it('rounds the product half up to a millionth', () => {
    const { quantity, unitPrice, amount } = videoPriceLine(
      { billing: 'per_second', prices: [{ ...row, price: '0.000003' }] },
      tier,
      seconds('0.5'),
    )
    expect([quantity, unitPrice, amount]).toEqual(['0.5', '0.000003', parseCredits('0.000002')])
  })
})

describe('snapshotPrices', () => {
  it.each(shippedConfig.models.flatMap((model) => (model.kind === 'video' ? [[model.id, model] as const] : [])))(
    'snapshotPrices keeps billing, prices and bound of %s',
    (_, model) => {
      for (const videoInput of [false, true]) {
        expect(snapshotPrices(model, { videoInput })).toStrictEqual({
          billing: model.billing,
          prices: model.prices,
          quantityMax: videoQuantityMax(model, { videoInput }),
        })
      }
    },
  )
})

function request(members: Partial<VideoJobRequest>): VideoJobRequest {
  return {
    model: 'famA-2',
    prompt: 'x',
    duration: 5,
    resolution: '720P',
    aspect_ratio: '16:9',
    generate_audio: true,
    watermark: true,
    image_urls: [],
    video_urls: [],
    audio_urls: [],
    ...members,
  }
}

type Reported = { completionTokens?: string; billableSeconds?: string; durationSeconds?: string }

function settle(asked: VideoJobRequest, model: VideoModel, reported: Reported) {
  return settleVideoCost({
    estimate: estimateVideoLine(asked, model).amount,
    snapshot: snapshotPrices(model, requestedTier(asked)),
    requested: requestedTier(asked),
    result: {
      videoUrl: 'https://result.example.test/v.mp4',
      completionTokens: reported.completionTokens,
      billableSeconds: reported.billableSeconds,
      outputSeconds: undefined,
      resolution: asked.resolution,
      audio: asked.generate_audio,
    },
    durationSeconds: reported.durationSeconds,
  })
}

const hundredths = (least: number, most: number) =>
  fc.integer({ min: least * 100, max: most * 100 }).map((value) => value / 100)

/** Every parameter that has a price, within the row of a model. */
function requests(model: VideoModel) {
  return fc.record({
    duration: fc.integer(model.durations),
    resolution: fc.constantFrom(...model.resolutions),
    aspect_ratio: fc.constantFrom<AspectRatio>('16:9', '9:16', '1:1', '21:9'),
    generate_audio: fc.boolean(),
    video_urls: fc.integer(model.videos).map((count) => new Array(count).fill('https://media.example.com/v')),
  })
}

describe.each(MODEL_ROWS)('the estimate of $id', ({ id }) => {
  const model = shippedModel(id)

  it('is above nothing and never below what is billed', () => {
    fc.assert(
      fc.property(
        requests(model),
        fc.nat(),
        hundredths(0, 1),
        hundredths(2, 15),
        hundredths(3, 60),
        (members, frameIndex, shortBy, inputOfTokens, inputOfEdit) => {
          const asked = request({ model: id, ...members })
          const frames = FRAMES[asked.resolution]
          const frame = frames[frameIndex % frames.length] ?? [0, 0]
          const hasInput = asked.video_urls.length > 0
          const seconds = asked.duration + (hasInput ? inputOfTokens : 0)
          const output = model.output_follows_input ? Math.min(inputOfEdit, 15) : asked.duration - shortBy
          const input = model.output_follows_input ? inputOfEdit : 0
          const billable = (Math.round((input + output) * 100) / 100).toString()
          const settlement = settle(asked, model, {
            completionTokens: String(tokensOf(frame, seconds)),
            billableSeconds: billable,
          })
          const estimate = estimateVideoLine(asked, model).amount
          expect(settlement).toMatchObject({ billedAtEstimate: false, usageRefused: false, overdraft: 0n })
          expect(settlement.amount).toBeGreaterThan(0n)
          expect(settlement.amount).toBeLessThanOrEqual(estimate)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('is met exactly by the longest usage of per-second billing, and by every usage of per-request billing', () => {
    fc.assert(
      fc.property(requests(model), hundredths(0, 60), (members, seconds) => {
        const asked = request({ model: id, ...members })
        const perSecond: VideoModel = { ...model, billing: 'per_second' }
        const longest = model.output_follows_input ? model.durations.max : asked.duration
        const input = asked.video_urls.length > 0 ? model.input_video_seconds_max : 0
        const billableSeconds = String(longest + input)
        expect(settle(asked, perSecond, { billableSeconds }).amount).toBe(estimateVideoLine(asked, perSecond).amount)
        const perRequest: VideoModel = { ...model, billing: 'per_request' }
        const reported = { completionTokens: String(seconds), billableSeconds: String(seconds) }
        expect(settle(asked, perRequest, reported).amount).toBe(estimateVideoLine(asked, perRequest).amount)
      }),
      { numRuns: 100 },
    )
  })
})

describe('estimateVideoLine', () => {
  it.each([
    ['famB-1.1-t2v', {}, '0.7'],
    ['famB-1.1-t2v', { resolution: '1080P', duration: 15 }, '2.7'],
    ['famB-1.0-t2v', { resolution: '480P', duration: 3 }, '0.21'],
    ['famB-1.0-video-edit', { video_urls: ['v'] }, '10.5'],
    ['famB-1.0-video-edit', { video_urls: ['v'], duration: 3 }, '10.5'],
    ['famA-1-pro', {}, '0.28435'],
    ['famA-2', { video_urls: ['v'] }, '1.944202'],
  ] as const)('of %s with %j is %s credits', (id, members, credits) => {
    const estimate = estimateVideoLine(request({ model: id, ...members }), shippedModel(id)).amount
    expect(formatCredits(estimate)).toBe(credits)
  })

  it('does not change with what has no price', () => {
    const model = shippedModel('famA-2')
    const plain = estimateVideoLine(request({}), model).amount
    const adorned = request({ prompt: 'y', fps: 60, watermark: false, aspect_ratio: '21:9', image_urls: ['i'] })
    expect(estimateVideoLine(adorned, model).amount).toBe(plain)
  })
})

describe('requestedTier', () => {
  it('is what was asked for, the reference video included', () => {
    expect(requestedTier(request({ resolution: '480P', generate_audio: false, video_urls: ['v'] }))).toStrictEqual({
      resolution: '480P',
      audio: false,
      videoInput: true,
    })
    expect(requestedTier(request({})).videoInput).toBe(false)
  })
})

const models = shippedConfig.models.filter((model) => model.kind === 'video')

describe('videoQuantityMax', () => {
  it.each(models.map((model) => [model.id, model] as const))(
    'of %s is its longest video, plus its longest input',
    (_, model) => {
      const { billing, durations, input_video_seconds_max: input, resolutions } = model
      const expected = {
        token: (seconds: number) =>
          Math.max(...resolutions.map((each) => completionTokensMax(each, durations.max, seconds))),
        per_second: (seconds: number) => durations.max + seconds,
        per_request: () => 1,
      }[billing]
      expect(videoQuantityMax(model, { videoInput: false })).toBe(expected(0))
      expect(videoQuantityMax(model, { videoInput: true })).toBe(expected(input))
    },
  )

  it.each(models.map((model) => [model.id, model] as const))('of %s is within the bound of any model', (_, model) => {
    for (const videoInput of [false, true]) {
      expect(videoQuantityMax(model, { videoInput })).toBeLessThanOrEqual(
        anyVideoQuantityMax(model.billing, { videoInput }),
      )
    }
  })
})

describe('completionTokensMax and the formula of tokens', () => {
  it.each([
    [[864, 480], 5, 49_005],
    [[1280, 720], 5, 108_900],
    [[1920, 1088], 5, 246_840],
    [[864, 496], 10, 100_858],
    [[1280, 720], 15, 324_900],
    [[1920, 1080], 15, 731_025],
  ] as const)('gives what upstreams billed for %j over %i s', (frame, seconds, tokens) => {
    expect(tokensOf(frame, seconds)).toBe(tokens)
  })
})

describe('completionTokensMax', () => {
  it.each(RESOLUTIONS)('is not below any frame of %s, at any length, with any input', (resolution) => {
    for (const frame of FRAMES[resolution]) {
      for (let seconds = 3; seconds <= 15; seconds += 1) {
        for (const input of [0, 2, 7.5, 15]) {
          expect(completionTokensMax(resolution, seconds, input)).toBeGreaterThanOrEqual(
            tokensOf(frame, seconds + input),
          )
        }
      }
    }
  })

  it.each(RESOLUTIONS)('is not more than a tenth above the widest frame of %s', (resolution) => {
    const widest = Math.max(...FRAMES[resolution].map((frame) => tokensOf(frame, 5)))
    expect(completionTokensMax(resolution, 5, 0)).toBeLessThanOrEqual(widest * 1.1)
  })
})
