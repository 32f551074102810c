import { describe, expect, it } from 'vitest'
import { type FileFacts, findViolation } from '#core/catalogue/reference-violation.ts'

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

describe('an image', () => {
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

describe('a video', () => {
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
