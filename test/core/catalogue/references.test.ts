import { describe, expect, it } from '@jest/globals'
import {
  type FileFacts,
  findViolation,
  limitedReferences,
  referenceName,
  withoutFileName,
} from '#core/catalogue/references.ts'
import { videoProvider } from '#core/providers/registry.ts'
import { shippedCatalogue, shippedModel } from '../shipped-catalogue.ts'

const images = {
  formats: ['jpeg', 'png', 'webp'] as ('jpeg' | 'png' | 'webp')[],
  short_side_min: 300,
  aspect_ratio_max: 2.5,
  bytes_max: 20_971_520,
}
const videos = {
  formats: ['mp4', 'mov'] as ('mp4' | 'mov')[],
  frames_per_second_min: 8,
  bytes_max: 104_857_600,
  secondsMax: 60,
}
const image = (facts: FileFacts) => findViolation({ format: 'png', ...facts }, images)?.words
const video = (facts: FileFacts) => findViolation({ format: 'mp4', ...facts }, videos)?.words

describe('findViolation: an image', () => {
  it.each([
    ['of 300x300', { width: 300, height: 300 }],
    ['of 2.5 to 1', { width: 750, height: 300 }],
    ['of 1 to 2.5', { width: 300, height: 750 }],
    ['of 20 MB in the larger sense', { sizeBytes: 20_971_520 }],
    ['of which nothing is known', {}],
  ])('%s breaks no limit', (_, facts) => {
    expect(image(facts)).toBeUndefined()
  })

  it.each([
    ['a GIF', { format: 'gif' as const }, 'has the format GIF; allowed: JPEG, PNG and WEBP'],
    ['a video', { format: 'mp4' as const }, 'has the format MP4; allowed: JPEG, PNG and WEBP'],
    ['narrow', { width: 299, height: 400 }, 'has 299x400 pixels; the shorter side needs 300'],
    ['low', { width: 400, height: 299 }, 'has 400x299 pixels; the shorter side needs 300'],
    [
      'long',
      { width: 751, height: 300 },
      'has 751x300 pixels; the longer side may be 2.5 times the shorter one at most',
    ],
    [
      'tall, whichever way a camera was held',
      { width: 300, height: 751 },
      'has 300x751 pixels; the longer side may be 2.5 times the shorter one at most',
    ],
    ['heavy', { sizeBytes: 20_971_521 }, 'has 20971521 bytes; the most is 20971520 bytes (20 MB)'],
  ])('that is %s breaks a limit, which it says', (_, facts, words) => {
    expect(image(facts)).toBe(words)
  })

  it('breaks no limit that is not set', () => {
    expect(findViolation({ format: 'png', width: 1, height: 9, sizeBytes: 1e12 }, { formats: ['png'] })).toBeUndefined()
    expect(findViolation({ format: 'gif' }, { formats: ['png'] })?.words).toBe('has the format GIF; allowed: PNG')
  })
})

describe('findViolation: a video', () => {
  it.each([
    ['of a minute, measured a little longer', { seconds: 60.6 }],
    ['of 8 frames per second, measured a little less', { framesPerSecond: 7.992 }],
    ['of 59.94 frames per second', { framesPerSecond: 59.94 }],
    ['of 100 MB in the larger sense', { sizeBytes: 104_857_600 }],
    ['of QuickTime', { format: 'mov' as const }],
  ])('%s breaks no limit', (_, facts) => {
    expect(video(facts)).toBeUndefined()
  })

  it.each([
    ['WEBM', { format: 'webm' as const }, 'has the format WEBM; allowed: MP4 and MOV'],
    ['too long', { seconds: 60.61 }, 'is 60.61 seconds long; the most is 60'],
    ['too slow', { framesPerSecond: 5 }, 'has 5 frames per second; the least is 8'],
    ['too heavy', { sizeBytes: 104_857_601 }, 'has 104857601 bytes; the most is 104857600 bytes (100 MB)'],
  ])('that is %s breaks a limit, which it says', (_, facts, words) => {
    expect(video(facts)).toBe(words)
  })

  it('may be of any length where the model has no longest', () => {
    expect(findViolation({ format: 'mp4', seconds: 1e6 }, { ...videos, secondsMax: 0 })).toBeUndefined()
  })
})

describe('the shipped limits of references', () => {
  const references = {
    image_urls: ['https://a.example/0.png', 'https://a.example/1.png'],
    video_urls: ['https://a.example/v.mp4'],
  }
  const images = (shortSide: number) => ({
    formats: ['jpeg', 'png', 'webp'],
    short_side_min: shortSide,
    aspect_ratio_max: 2.5,
    bytes_max: 20 * 1024 * 1024,
  })
  const videos = { formats: ['mp4', 'mov'], frames_per_second_min: 8, bytes_max: 100 * 1024 * 1024, secondsMax: 60 }

  it.each([
    ['famB-1.1-i2v', 300],
    ['famB-1.0-i2v', 300],
    ['famB-1.1-r2v', 400],
    ['famB-1.0-r2v', 400],
  ])('of %s are those of docs/api.md: %i pixels of the shorter side', (id, shortSide) => {
    const found = limitedReferences({ ...references, video_urls: [] }, shippedModel(id))
    expect(found).toEqual([
      { place: 'image_urls[0]', url: references.image_urls[0], limits: images(shortSide) },
      { place: 'image_urls[1]', url: references.image_urls[1], limits: images(shortSide) },
    ])
  })

  it('of an edit are about its images and its video', () => {
    expect(limitedReferences(references, shippedModel('famB-1.0-video-edit'))).toEqual([
      { place: 'image_urls[0]', url: references.image_urls[0], limits: images(300) },
      { place: 'image_urls[1]', url: references.image_urls[1], limits: images(300) },
      { place: 'video_urls[0]', url: references.video_urls[0], limits: videos },
    ])
  })

  it('are none of family A, and looked at on the channels whose provider has them checked', () => {
    expect(limitedReferences(references, shippedModel('famA-2'))).toEqual([])
    for (const channel of shippedCatalogue.config.channels) {
      if ('reference_checks' in channel) {
        expect([channel.id, channel.reference_checks]).toEqual([
          channel.id,
          videoProvider(channel.provider).checksReferences,
        ])
      }
    }
  })
})

describe('referenceName', () => {
  it.each([
    ['https://cdn.example/a/cat.png', 'image_urls[0] (cat.png)'],
    ['https://cdn.example/a/my%20cat.jpeg?X-Amz-Signature=secret#part', 'image_urls[0] (my cat.jpeg)'],
    ['https://user:secret@cdn.example/cat.png', 'image_urls[0] (cat.png)'],
  ])('is its place and the name of its file: %s', (url, name) => {
    expect(referenceName('image_urls[0]', url)).toBe(name)
  })

  it.each([
    'https://cdn.example/',
    'https://cdn.example/signed/2f8a9c0b7d6e5f4a3b2c1d0e',
    `https://cdn.example/${'a'.repeat(100)}.png`,
    'https://cdn.example/%E7%8C%AB.png',
    'https://cdn.example/%E7%8C.png',
    'https://cdn.example/a%2Fsecret.png',
    'https://cdn.example/a%0Ab.png',
    'data:image/png;base64,AAAA/cat.png',
    'not a url/cat.png',
  ])('is its place alone where the rest may be anything: %s', (url) => {
    expect(referenceName('video_urls[0]', url)).toBe('video_urls[0]')
  })
})

describe('withoutFileName', () => {
  it.each([
    'https://cdn.example/sk-live-abcdefgh12345.png',
    'https://cdn.example/my%20cat.v2.jpeg',
    'https://cdn.example/',
  ])('keeps the place and the limit: %s', (url) => {
    const sentence = `${referenceName('video_urls[12]', url)} has 299x400 pixels`
    expect(withoutFileName(sentence)).toBe('video_urls[12] has 299x400 pixels')
  })

  it('leaves other words as they are', () => {
    const words = 'the upstream failed (HTTP 500) for image_urls[0] (see above)'
    expect(withoutFileName(words)).toBe(words)
  })
})
