import { readdirSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CLIP_SECONDS_MAX, CLIP_SECONDS_MIN, clipFor, readClip } from '../../../lib/simulators/shared/clip-files.ts'

const CLIPS_FOLDER = new URL('../../../lib/simulators/clips/', import.meta.url)
const LENGTHS = Array.from({ length: CLIP_SECONDS_MAX - CLIP_SECONDS_MIN + 1 }, (_, index) => CLIP_SECONDS_MIN + index)
const TOTAL_BYTES_MAX = 1_500_000

/** Seconds by the movie header: its duration over its time scale. */
function headerSeconds(bytes: Buffer): number {
  const at = bytes.indexOf('mvhd')
  const isLong = bytes.readUInt8(at + 4) === 1
  const scaleAt = at + (isLong ? 24 : 16)
  const duration = isLong ? Number(bytes.readBigUInt64BE(scaleAt + 4)) : bytes.readUInt32BE(scaleAt + 4)
  return duration / bytes.readUInt32BE(scaleAt)
}

describe('the clips', () => {
  it.each(['16:9', '9:16', '1:1'].flatMap((ratio) => LENGTHS.map((seconds) => [ratio, seconds] as const)))(
    'of %s last %i seconds exactly',
    (ratio, seconds) => {
      const clip = clipFor({ ratio, seconds })
      expect(clip.seconds).toBe(seconds)
      expect(clip.fileName.startsWith(ratio.replace(':', 'x'))).toBe(true)
      expect(headerSeconds(readClip(clip))).toBe(seconds)
    },
  )

  it('begin with what a player needs to start', () => {
    const bytes = readClip(clipFor({ ratio: '16:9', seconds: 5 }))
    expect(bytes.subarray(4, 8).toString()).toBe('ftyp')
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'))
    expect(bytes.includes('avc1')).toBe(true)
    expect(bytes.includes('mp4a')).toBe(true)
  })

  it('are small enough to live in the repository', () => {
    const sizes = readdirSync(CLIPS_FOLDER).map((name) => statSync(new URL(name, CLIPS_FOLDER)).size)
    expect(sizes.reduce((total, size) => total + size, 0)).toBeLessThan(TOTAL_BYTES_MAX)
  })
})

describe('clipFor', () => {
  it.each([
    ['21:9', '16x9'],
    ['4:3', '16x9'],
    ['3:4', '9x16'],
    ['9:21', '9x16'],
    ['5:4', '1x1'],
    ['adaptive', '16x9'],
  ])('serves %s from %s', (ratio, shape) => {
    expect(clipFor({ ratio, seconds: 5 }).fileName).toBe(`${shape}-05s.mp4`)
  })

  it('reports the length that it serves when there is no clip of the length asked for', () => {
    expect([2, 5.04, 20].map((seconds) => clipFor({ ratio: '16:9', seconds }).seconds)).toEqual([3, 5, 15])
  })
})
