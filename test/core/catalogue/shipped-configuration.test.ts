import { describe, expect, it } from '@jest/globals'
import { createCatalogue, needsDirectRoute, upstreamModelId } from '#core/catalogue/catalogue.ts'
import { credentialName } from '#core/catalogue/credential-name.ts'
import { findVideoPrice } from '#core/catalogue/video-price.ts'
import { parseCredits } from '#core/money/money.ts'
import { MODEL_ROWS } from '../interface-tables.ts'
import { shippedCatalogue, shippedConfig, shippedModel } from '../shipped-catalogue.ts'

describe.each(MODEL_ROWS)('the shipped row of $id', (row) => {
  const model = shippedModel(row.id)

  it('offers what the interface says', () => {
    const [imagesMin, imagesMax] = row.images
    const [videosMin, videosMax] = row.videos
    const [audiosMin, audiosMax] = row.audios
    expect(model).toMatchObject({
      kind: 'video',
      enabled: true,
      durations: { min: 3, max: row.maxSeconds },
      resolutions: row.resolutions,
      default_resolution: '720P',
      audio: { supported: row.audioDefault, default: row.audioDefault },
      images: { min: imagesMin, max: imagesMax },
      videos: { min: videosMin, max: videosMax },
      audios: { min: audiosMin, max: audiosMax },
      output_follows_input: row.id.endsWith('video-edit'),
      prompt_flags: row.id.startsWith('famA-1'),
      billing: row.id.startsWith('famA') ? 'token' : 'per_second',
    })
  })

  it('has a price above nothing for every cell', () => {
    const inputs = row.videos[1] === 0 ? [false] : row.videos[0] === 0 ? [false, true] : [true]
    for (const resolution of row.resolutions) {
      for (const audio of [true, false]) {
        for (const videoInput of inputs) {
          const price = findVideoPrice(model.prices, { resolution, audio, videoInput })
          expect(parseCredits(price?.price ?? 'no price')).toBeGreaterThan(0n)
        }
      }
    }
  })

  it('is served by a channel, and by a direct one where it takes reference audio or video', () => {
    expect(shippedCatalogue.videoChannels(row.id, { directOnly: false })).not.toHaveLength(0)
    const direct = shippedCatalogue.videoChannels(row.id, { directOnly: true })
    expect(direct.every((channel) => channel.provider === 'p1' || channel.route === 'direct')).toBe(true)
    expect(direct).not.toHaveLength(0)
  })
})

describe('the shipped configuration', () => {
  it('holds no credential, only names', () => {
    for (const channel of shippedConfig.channels) {
      expect(channel.api_key).toMatch(/^\$\{[A-Z0-9_]+\}$/)
      expect(credentialName(channel)).toBe(channel.api_key.slice(2, -1))
    }
  })

  it('covers the chat, embedding and image models of the interface', () => {
    const others = shippedConfig.models.filter((model) => model.kind !== 'video').map((model) => model.id)
    expect(others).toEqual(
      expect.arrayContaining([
        'text-embedding-3-small',
        'text-embedding-3-large',
        'text-embedding-ada-002',
        'image-v3',
        'image-v2',
      ]),
    )
  })
})

describe('createCatalogue', () => {
  it('gives channels lowest priority number first', () => {
    const channels = shippedConfig.channels.toReversed()
    const found = createCatalogue({ ...shippedConfig, channels }).videoChannels('famA-2', { directOnly: false })
    const priorities = found.map(({ priority }) => priority)
    expect(priorities).toStrictEqual(priorities.toSorted((left, right) => left - right))
    expect(new Set(priorities).size).toBeGreaterThan(1)
  })

  it.each(['nothing', 'chat-default', 'toString', '__proto__', ''])(
    'finds no video model and no channel for %j',
    (id) => {
      expect(shippedCatalogue.findVideoModel(id)).toBeUndefined()
      expect(shippedCatalogue.findVideoChannel(id)).toBeUndefined()
      expect(shippedCatalogue.videoChannels(id, { directOnly: false })).toStrictEqual([])
    },
  )
})

describe('upstreamModelId', () => {
  const [channel] = shippedCatalogue.videoChannels('famA-1-lite', { directOnly: false })

  it('tells text from image input where the upstream does', () => {
    expect(channel && upstreamModelId(channel, { model: 'famA-1-lite', image_urls: [] })).toBe('famA-1-lite-t2v')
    expect(channel && upstreamModelId(channel, { model: 'famA-1-lite', image_urls: ['x'] })).toBe('famA-1-lite-i2v')
    expect(channel && upstreamModelId(channel, { model: 'famA-2', image_urls: ['x'] })).toBe('famA-2-0-260128')
  })

  it('throws for a model that the channel does not serve', () => {
    expect(() => channel && upstreamModelId(channel, { model: 'famB-1.0-t2v', image_urls: [] })).toThrow(RangeError)
  })
})

describe('needsDirectRoute', () => {
  it.each([
    [[], [], false],
    [['a'], [], true],
    [[], ['v'], true],
  ])('of audio %j and video %j is %j', (audio_urls, video_urls, expected) => {
    expect(needsDirectRoute({ audio_urls, video_urls })).toBe(expected)
  })
})

describe('findVideoPrice', () => {
  const any = { resolution: 'any', audio: 'any', video_input: 'any' } as const
  const tier = { resolution: '720P', audio: false, videoInput: false } as const

  it('takes the first row that matches', () => {
    const rows = [
      { ...any, resolution: '1080P' as const, price: '1' },
      { ...any, audio: true, price: '2' },
      { ...any, video_input: true, price: '3' },
      { ...any, audio: false, price: '4' },
      { ...any, price: '5' },
    ]
    expect(findVideoPrice(rows, tier)?.price).toBe('4')
    expect(findVideoPrice(rows, { ...tier, resolution: '1080P' })?.price).toBe('1')
    expect(findVideoPrice(rows.slice(0, 3), tier)).toBeUndefined()
  })
})
