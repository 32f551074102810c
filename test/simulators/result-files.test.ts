import { readdirSync, statSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { clipFor, readClip } from '../../lib/simulators/result-files.ts'

const CLIPS_FOLDER = new URL('../../lib/simulators/clips/', import.meta.url)
const TOTAL_BYTES_MAX = 1_500_000

/** Seconds by the movie header: its duration over its time scale. */
function headerSeconds(bytes: Buffer): number {
  const at = bytes.indexOf('mvhd')
  const isLong = bytes.readUInt8(at + 4) === 1
  const scaleAt = at + (isLong ? 24 : 16)
  const duration = isLong ? Number(bytes.readBigUInt64BE(scaleAt + 4)) : bytes.readUInt32BE(scaleAt + 4)
  return duration / bytes.readUInt32BE(scaleAt)
}

describe('clips', () => {
  it.each(['16:9', '9:16', '1:1'])(
    'of %s last their whole seconds exactly and start to play while they load',
    (ratio) => {
      for (let seconds = 3; seconds <= 15; seconds += 1) {
        const clip = clipFor({ ratio, seconds })
        const bytes = readClip(clip)
        expect([clip.fileName.startsWith(ratio.replace(':', 'x')), clip.seconds]).toEqual([true, seconds])
        expect([headerSeconds(bytes), bytes.includes('avc1'), bytes.includes('mp4a')]).toEqual([seconds, true, true])
        expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'))
      }
    },
  )

  it('fit into the repository', () => {
    const sizes = readdirSync(CLIPS_FOLDER).map((name) => statSync(new URL(name, CLIPS_FOLDER)).size)
    expect(sizes.reduce((total, size) => total + size, 0)).toBeLessThan(TOTAL_BYTES_MAX)
  })

  it.each([
    ['21:9', 5, '16x9-05s.mp4', 5],
    ['4:3', 5.04, '16x9-05s.mp4', 5],
    ['3:4', 2, '9x16-03s.mp4', 3],
    ['9:21', 20, '9x16-15s.mp4', 15],
    ['5:4', 5, '1x1-05s.mp4', 5],
    ['adaptive', 5, '16x9-05s.mp4', 5],
  ])('serve %s of %d s from %s', (ratio, wanted, fileName, seconds) => {
    expect(clipFor({ ratio, seconds: wanted })).toEqual({ fileName, seconds })
  })
})
