import { describe, expect, it } from 'vitest'
import { countedUsage } from '#core/quota/counted-usage.ts'
import { countedVideo } from '#core/quota/counted-video.ts'
import { parseQuantity } from '#core/quota/video-cost.ts'

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
