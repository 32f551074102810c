import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { VideoModel } from '#core/catalogue/model.ts'
import { formatCredits } from '#core/money/money.ts'
import type { AspectRatio, VideoJobRequest } from '#core/parameters/video-parameters.ts'
import { estimateVideoLine, requestedTier } from '#core/quota/estimate.ts'
import { snapshotPrices } from '#core/quota/price-snapshot.ts'
import { settleVideoCost } from '#core/quota/settlement.ts'
import { MODEL_ROWS } from '../interface-tables.ts'
import { shippedModel } from '../shipped-catalogue.ts'
import { FRAMES, tokensOf } from './upstream-frames.ts'

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
