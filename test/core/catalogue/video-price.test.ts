import { describe, expect, it } from '@jest/globals'
import { findVideoPrice } from '#core/catalogue/video-price.ts'

describe('video-price: findVideoPrice', () => {
  const any = { resolution: 'any', audio: 'any', video_input: 'any' } as const
  const tier = { resolution: '720P', audio: false, videoInput: false } as const

  it('takes the first row that matches, and none when no row does', () => {
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
