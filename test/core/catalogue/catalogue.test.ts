import { describe, expect, it } from '@jest/globals'
import { createCatalogue, needsDirectRoute, upstreamModelId } from '#core/catalogue/catalogue.ts'
import { shippedCatalogue, shippedConfig } from '../shipped-catalogue.ts'

describe('catalogue: createCatalogue', () => {
  it('returns channels by priority, lowest number first', () => {
    const channels = shippedConfig.channels.toReversed()
    const found = createCatalogue({ ...shippedConfig, channels }).videoChannels('famA-2', { directOnly: false })
    const priorities = found.map(({ priority }) => priority)
    expect(priorities).toStrictEqual(priorities.toSorted((left, right) => left - right))
    expect(new Set(priorities).size).toBeGreaterThan(1)
  })

  it.each(['nothing', 'chat-default', 'toString', '__proto__', ''])(
    'finds no video model and no channel named %j',
    (id) => {
      expect(shippedCatalogue.findVideoModel(id)).toBeUndefined()
      expect(shippedCatalogue.findVideoChannel(id)).toBeUndefined()
      expect(shippedCatalogue.videoChannels(id, { directOnly: false })).toStrictEqual([])
    },
  )
})

describe('catalogue: upstreamModelId', () => {
  const [channel] = shippedCatalogue.videoChannels('famA-1-lite', { directOnly: false })

  it('is the id for text or for image input where the upstream has one of each', () => {
    expect(channel && upstreamModelId(channel, { model: 'famA-1-lite', image_urls: [] })).toBe('famA-1-lite-t2v')
    expect(channel && upstreamModelId(channel, { model: 'famA-1-lite', image_urls: ['x'] })).toBe('famA-1-lite-i2v')
    expect(channel && upstreamModelId(channel, { model: 'famA-2', image_urls: ['x'] })).toBe('famA-2-0-260128')
  })

  it('throws for a model that the channel does not serve', () => {
    expect(() => channel && upstreamModelId(channel, { model: 'famB-1.0-t2v', image_urls: [] })).toThrow(RangeError)
  })
})

describe('catalogue: needsDirectRoute', () => {
  it.each([
    [[], [], false],
    [['a'], [], true],
    [[], ['v'], true],
  ])('of audio %j and video %j is %j', (audio_urls, video_urls, expected) => {
    expect(needsDirectRoute({ audio_urls, video_urls })).toBe(expected)
  })
})
