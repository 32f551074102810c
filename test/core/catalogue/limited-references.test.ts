import { describe, expect, it } from 'vitest'
import { limitedReferences } from '#core/catalogue/limited-references.ts'
import { shippedCatalogue, shippedModel } from '../shipped-catalogue.ts'

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

describe('the shipped limits of references', () => {
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

  it('are none of family A, and looked at on every P1 channel and on no other', () => {
    expect(limitedReferences(references, shippedModel('famA-2'))).toEqual([])
    const checks = shippedCatalogue.config.channels.map((channel) =>
      'reference_checks' in channel ? [channel.provider, channel.reference_checks] : [],
    )
    expect(new Set(checks.map(String))).toEqual(new Set(['p1,true', 'p2,false', '']))
  })
})
