import { describe, expect, it } from 'vitest'
import { credentialName } from '#core/catalogue/catalogue.ts'
import { findVideoPrice } from '#core/catalogue/price-rows.ts'
import { parseCredits } from '#core/money.ts'
import { MODEL_ROWS } from '../core/interface-tables.ts'
import { shippedCatalogue, shippedConfig, shippedModel } from '../core/shipped-catalogue.ts'

describe.each(MODEL_ROWS)('config/gateway.yaml: the model $id', (row) => {
  const model = shippedModel(row.id)

  it('has the limits of docs/api.md', () => {
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

  it('has a price above zero for every combination of resolution, audio and video input', () => {
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

describe('config/gateway.yaml', () => {
  it('holds no credential, only names', () => {
    for (const channel of shippedConfig.channels) {
      expect(channel.api_key).toMatch(/^\$\{[A-Z0-9_]+\}$/)
      expect(credentialName(channel)).toBe(channel.api_key.slice(2, -1))
    }
  })

  it('covers the chat, embedding and image models of docs/api.md', () => {
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
