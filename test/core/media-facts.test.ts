import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type MediaFacts, mediaFormatOf, readMediaFacts } from '#core/media-facts.ts'
import type { FileWindow, WantedBytes } from '#core/mp4.ts'
import { box, fileType, jpegFile, mediaData, movie, pngFile, track, videoFile, webpFile } from './media-files.ts'

const ascii = (text: string) => Buffer.from(text.padEnd(64, '\0'), 'latin1')
const size = { width: 640, height: 360 }
const clip = readFileSync(new URL('../../lib/simulators/clips/16x9-03s.mp4', import.meta.url))

/** Hands over what is wanted until nothing more is, as a server with ranges would. */
function readInPieces(file: Uint8Array, headBytes: number): { facts: MediaFacts; asked: number; read: number } {
  const windows: FileWindow[] = []
  let wants: WantedBytes | undefined = { offset: 0, length: headBytes }
  let facts: MediaFacts = {}
  let read = 0
  let asked = 0
  while (wants !== undefined && asked < 5) {
    const bytes: Uint8Array = file.subarray(wants.offset, wants.offset + wants.length)
    windows.push({ offset: wants.offset, bytes })
    const reading = readMediaFacts(windows)
    read += bytes.length
    asked += 1
    facts = reading.facts
    wants = reading.wants !== undefined && reading.wants.offset < file.length ? reading.wants : undefined
  }
  return { facts, asked, read }
}

const whole = (file: Uint8Array) => readMediaFacts([{ offset: 0, bytes: file }]).facts

describe('readMediaFacts: the format of a file', () => {
  it.each([
    ['jpeg', jpegFile(size)],
    ['png', pngFile(size).subarray(0, 33)],
    ['webp', webpFile(size, 'VP8X')],
    ['gif', ascii('GIF89a')],
    ['tiff', ascii('II*\0')],
    ['bmp', Buffer.concat([ascii('BM').subarray(0, 14), Buffer.from([40, 0, 0, 0]), Buffer.alloc(40)])],
    ['avif', fileType('avif')],
    ['heic', fileType('heic')],
    ['mp4', fileType('isom')],
    ['mp4', fileType('M4V ')],
    ['mov', fileType('qt  ')],
    ['mov', Buffer.concat([box('wide'), mediaData()])],
    ['webm', ascii('\x1aE\xdf\xa3')],
    ['avi', ascii('RIFF....AVI LIST')],
  ])('is %s by its first bytes', (format, file) => {
    expect(whole(file).format).toBe(format)
  })

  it.each([
    ['a page', ascii('<!DOCTYPE html><title>Not found</title>')],
    ['a text that begins like a bitmap', ascii('BMW is a maker of cars and of motorcycles as well')],
    ['another RIFF file', ascii('RIFF....WAVEfmt ')],
    ['an image whose coding its brand leaves open', fileType('mif1')],
    ['nothing', Buffer.alloc(0)],
    ['the first bytes of a PNG alone', pngFile(size).subarray(0, 20)],
  ])('is not known of %s', (_, file) => {
    expect(readMediaFacts([{ offset: 0, bytes: file }])).toEqual({ facts: {} })
  })
})

describe('readMediaFacts: the pixels of an image', () => {
  it.each([
    ['a PNG', pngFile(size)],
    ['a baseline JPEG', jpegFile(size)],
    ['a progressive JPEG', jpegFile(size, { marker: 0xc2 })],
    ['a lossy WEBP', webpFile(size, 'VP8 ')],
    ['a lossless WEBP', webpFile(size, 'VP8L')],
    ['a WEBP that moves', webpFile(size, 'VP8X')],
  ])('are read from the header of %s', (_, file) => {
    expect(whole(file)).toMatchObject(size)
  })

  it.each([0, 65_535, 70_000, 150_000])(
    'are found behind %i bytes of metadata of a JPEG, most of them unread',
    (metadata) => {
      const { facts, asked, read } = readInPieces(jpegFile(size, { metadata }), 65_536)
      expect(facts).toEqual({ format: 'jpeg', ...size })
      expect(read).toBeLessThanOrEqual(asked * 65_536)
      expect(asked).toBeLessThanOrEqual(3)
    },
  )

  it.each([
    [
      'a JPEG without a frame',
      Buffer.concat([jpegFile(size).subarray(0, 2), Buffer.from([0xff, 0xda, 0, 4]), Buffer.alloc(60)]),
    ],
    ['a JPEG that tells its height later', jpegFile({ ...size, height: 0 })],
    ['a PNG whose header is not first', Buffer.concat([pngFile(size).subarray(0, 8), ascii('\0\0\0\x04CgBI')])],
    ['a WEBP of an unknown kind', Buffer.concat([webpFile(size, 'VP8X').subarray(0, 12), ascii('ALPH')])],
  ])('are not known of %s', (_, file) => {
    expect(whole(file)).toEqual({ format: expect.any(String) })
  })
})

describe('readMediaFacts: length and frame rate of a video', () => {
  it('are those of a real clip', () => {
    expect(whole(clip)).toEqual({ format: 'mp4', seconds: 3, framesPerSecond: 24 })
  })

  it.each([
    ['in front of the media data', Buffer.concat([fileType(), movie(), mediaData()])],
    ['behind the media data', videoFile()],
    ['behind boxes of no interest', Buffer.concat([fileType(), box('free'), box('uuid', Buffer.alloc(99)), movie()])],
    ['in a QuickTime file', Buffer.concat([fileType('qt  '), box('wide'), mediaData(), movie()])],
    ['with 64-bit times', videoFile({ version: 1, tracks: [track({ version: 1 })] })],
  ])('are found in a movie box %s', (_, file) => {
    expect(whole(file)).toMatchObject({ seconds: 3, framesPerSecond: 24 })
  })

  it('need two small ranges of a large file whose movie box lies at its end', () => {
    const file = videoFile({}, 5_000_000)
    const { facts, asked, read } = readInPieces(file, 65_536)
    expect({ facts, asked }).toEqual({ facts: { format: 'mp4', seconds: 3, framesPerSecond: 24 }, asked: 2 })
    expect(read).toBeLessThan(70_000)
  })

  it('are those of the movie as edited, not of the media that the edits leave out', () => {
    expect(whole(videoFile({ length: 2000, tracks: [track({ length: 2000 })] }))).toMatchObject({ seconds: 2 })
  })

  it('are those of the pictures where the sound goes on', () => {
    const sound = track({ handler: 'soun', length: 61_000, timescale: 44_100, runs: [[2000, 1024]] })
    expect(whole(videoFile({ length: 61_000, tracks: [sound, track({ length: 60_000 })] }))).toMatchObject({
      seconds: 60,
      framesPerSecond: 24,
    })
  })

  it('are those of the quickest video track, because a cover picture is one too', () => {
    const cover = track({ runs: [[1, 90_000]], timescale: 90_000 })
    expect(whole(videoFile({ tracks: [cover, track()] }))).toMatchObject({ framesPerSecond: 24 })
  })

  it('are the rate of its closest frames where the rate varies, the last frame not counted', () => {
    const runs = [
      [10, 6000],
      [5, 3000],
      [1, 10],
    ] as const
    expect(whole(videoFile({ tracks: [track({ runs })] }))).toMatchObject({ framesPerSecond: 8 })
  })

  it.each([
    ['a fragmented movie', videoFile({ more: box('mvex', box('trex', Buffer.alloc(24))) })],
    ['a movie of no length', videoFile({ length: 0 })],
    ['a movie that says that it does not know', videoFile({ length: 0xffff_ffff })],
    ['a movie box of nothing', Buffer.concat([fileType(), mediaData(), box('moov')])],
    ['a file without a movie box', Buffer.concat([fileType(), mediaData()])],
    ['media data that goes on to the end', Buffer.concat([fileType(), Buffer.from('\0\0\0\0mdat'), movie()])],
  ])('are not known of %s', (_, file) => {
    expect(whole(file)).not.toHaveProperty('seconds')
  })

  it('are not told by a table of frames that is cut off', () => {
    const file = videoFile()
    expect(whole(file.subarray(0, file.length - 4))).toEqual({ format: 'mp4', seconds: 3 })
  })
})

describe('readMediaFacts: the reading of a header', () => {
  const files = [
    pngFile(size),
    jpegFile(size, { metadata: 300 }),
    webpFile(size, 'VP8L'),
    videoFile({ version: 1 }),
    Buffer.concat([fileType('qt  '), movie(), mediaData()]),
  ]
  const changes = fc.array(fc.tuple(fc.nat(4000), fc.integer({ min: 0, max: 255 })), { maxLength: 20 })

  it('of any bytes ends and never throws, whichever pieces of the file are at hand', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...files),
        changes,
        fc.array(fc.tuple(fc.nat(4000), fc.nat(4000)), { maxLength: 4 }),
        (file, edits, pieces) => {
          const bytes = Buffer.from(file)
          for (const [at, value] of edits) {
            bytes[at % bytes.length] = value
          }
          const windows = pieces.map(([offset, length]) => ({ offset, bytes: bytes.subarray(offset, offset + length) }))
          const { wants } = readMediaFacts([{ offset: 0, bytes: bytes.subarray(0, 200) }, ...windows])
          readInPieces(bytes, 64)
          expect(wants === undefined || (wants.length > 0 && wants.length <= 1_048_576)).toBe(true)
        },
      ),
    )
  })

  it('in pieces tells what the whole file tells', () => {
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.integer({ min: 64, max: 4000 }), (file, headBytes) => {
        expect(readInPieces(file, headBytes).facts).toEqual(whole(file))
      }),
    )
  })

  it('is done with a megabyte of the smallest boxes and segments long before a walk that began anew at each would be', () => {
    const boxes = Buffer.concat([fileType(), box('moov', ...Array.from({ length: 100_000 }, () => box('trak')))])
    const segments = Buffer.concat([jpegFile(size).subarray(0, 2), Buffer.from('ffe00002'.repeat(250_000), 'hex')])
    const startedAt = performance.now()
    expect([whole(boxes), whole(segments)]).toEqual([{ format: 'mp4' }, { format: 'jpeg' }])
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })
})

describe('readMediaFacts: a box whose size leads beyond every file', () => {
  it('is the end of the walk: no byte is asked for that a number cannot name', () => {
    const huge = Buffer.alloc(16)
    huge.writeUInt32BE(1)
    huge.write('free', 4, 'latin1')
    huge.writeBigUInt64BE(BigInt(Number.MAX_SAFE_INTEGER), 8)
    const reading = readMediaFacts([{ offset: 0, bytes: Buffer.concat([fileType('isom'), huge]) }])
    expect(reading).toEqual({ facts: { format: 'mp4' } })
  })
})

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
