import { describe, expect, it } from 'vitest'
import { p2Tokens } from '../../../lib/simulators/p2/p2-tokens.ts'

describe('p2Tokens', () => {
  it.each([
    [2, '480p', '16:9', 5, 50_638],
    [2, '480p', '16:9', 15, 151_078],
    [2, '720p', '16:9', 5, 108_900],
    [2, '720p', '9:16', 10, 216_900],
    [2, '1080p', '9:16', 5, 245_025],
    [2, '1080p', '16:9', 15, 731_025],
    [1, '480p', '16:9', 5, 49_005],
    [1, '1080p', '16:9', 5, 246_840],
  ] as const)('of generation %i at %s %s for %i s are %i', (generation, resolution, ratio, seconds, tokens) => {
    expect(p2Tokens({ generation, resolution, ratio, seconds })).toBe(tokens)
  })

  it('never exceed the landscape frame of the resolution by more than a seventh', () => {
    for (const ratio of ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', '5:4']) {
      const tokens = p2Tokens({ generation: 2, resolution: '720p', ratio, seconds: 5 })
      expect(tokens).toBeGreaterThan(0)
      expect(tokens).toBeLessThan(108_900 * (8 / 7))
    }
  })
})
