import { describe, expect, it } from 'vitest'
import { anyVideoQuantityMax, videoQuantityMax } from '#core/quota/video-quantity.ts'
import { completionTokensMax } from '#core/quota/video-tokens.ts'
import { shippedConfig } from '../shipped-catalogue.ts'

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
