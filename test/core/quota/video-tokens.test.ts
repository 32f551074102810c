import { describe, expect, it } from 'vitest'
import { RESOLUTIONS } from '#core/parameters/video-parameters.ts'
import { completionTokensMax } from '#core/quota/video-tokens.ts'
import { FRAMES, tokensOf } from './upstream-frames.ts'

describe('the formula of tokens', () => {
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
