import { describe, expect, it } from 'vitest'
import { mediaFormatOf } from '#core/media/media-format.ts'

const file = (start: string) => Buffer.from(start.padEnd(32, '\0'), 'latin1')

describe('mediaFormatOf', () => {
  it.each([
    ['jpeg', '\xff\xd8\xff\xe0'],
    ['png', '\x89PNG\r\n\x1a\n'],
    ['gif', 'GIF89a'],
    ['tiff', 'II*\0'],
    ['tiff', 'MM\0*'],
    ['bmp', `BM${'\0'.repeat(12)}\x28\0\0\0`],
    ['webp', 'RIFF\0\0\0\0WEBP'],
    ['avi', 'RIFF\0\0\0\0AVI '],
    ['webm', '\x1aE\xdf\xa3'],
    ['mp4', '\0\0\0\x18ftypisom'],
    ['mov', '\0\0\0\x18ftypqt  '],
    ['mov', '\0\0\0\x08wide'],
    ['avif', '\0\0\0\x18ftypavif'],
    ['heic', '\0\0\0\x18ftypheic'],
  ])('recognises %s by its first bytes %j', (format, start) => {
    expect(mediaFormatOf(file(start))).toBe(format)
  })

  it.each(['', 'BM', 'RIFF\0\0\0\0WAVE', '\0\0\0\x18ftypmif1', '%PDF-1.7'])('does not guess at %j', (start) => {
    expect(mediaFormatOf(file(start))).toBeUndefined()
  })

  it('needs the first 32 bytes', () => {
    expect(mediaFormatOf(file('GIF89a').subarray(0, 31))).toBeUndefined()
  })
})
