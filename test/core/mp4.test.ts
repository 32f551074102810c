import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  asciiAt,
  boxesIn,
  boxHeadAt,
  bytesAt,
  bytesFrom,
  createMp4Scanner,
  findBox,
  type Mp4Header,
  viewOf,
} from '#core/mp4.ts'
import { box } from './media-files.ts'

describe('createMp4Scanner', () => {
  const text = (value: string): Buffer => Buffer.from(value, 'latin1')

  function box(type: string, ...content: readonly Uint8Array[]): Buffer {
    const body = Buffer.concat(content)
    const header = Buffer.alloc(8)
    header.writeUInt32BE(body.length + 8)
    header.write(type, 4, 'latin1')
    return Buffer.concat([header, body])
  }

  function largeBox(type: string, content: Uint8Array): Buffer {
    const header = Buffer.alloc(16)
    header.writeUInt32BE(1)
    header.write(type, 4, 'latin1')
    header.writeBigUInt64BE(BigInt(content.length + 16), 8)
    return Buffer.concat([header, content])
  }

  function movieHeader(timescale: number, duration: bigint, version = 0): Buffer {
    const content = Buffer.alloc(version === 1 ? 112 : 100)
    content.writeUInt8(version)
    if (version === 1) {
      content.writeUInt32BE(timescale, 20)
      content.writeBigUInt64BE(duration, 24)
    } else {
      content.writeUInt32BE(timescale, 12)
      content.writeUInt32BE(Number(duration), 16)
    }
    return box('mvhd', content)
  }

  const fileType = box('ftyp', text('isom\0\0\x02\0isomavc1'))
  const mediaData = box('mdat', Buffer.alloc(3000, 0x66))

  function scan(file: Uint8Array, chunkBytes = file.length || 1): Mp4Header {
    const scanner = createMp4Scanner()
    for (let offset = 0; offset < file.length; offset += chunkBytes) {
      scanner.push(file.subarray(offset, offset + chunkBytes))
    }
    return scanner.finish()
  }

  it.each([
    ['moov before the media data', [fileType, box('moov', movieHeader(1000, 5040n)), mediaData]],
    ['moov after the media data', [fileType, mediaData, box('moov', movieHeader(1000, 5040n))]],
    ['other boxes before mvhd', [fileType, box('free'), box('moov', box('udta', text('x')), movieHeader(600, 3024n))]],
    ['64-bit box sizes', [fileType, largeBox('mdat', Buffer.alloc(99)), largeBox('moov', movieHeader(1000, 5040n))]],
    ['64-bit times', [fileType, box('moov', movieHeader(90_000, 453_600n, 1))]],
    ['a moov without mvhd and then one with', [fileType, box('moov'), box('moov', movieHeader(1000, 5040n))]],
  ])('reads the duration with %s, however the bytes are cut', (_name, boxes) => {
    const file = Buffer.concat(boxes)
    for (const chunkBytes of [1, 2, 3, 7, 64, file.length]) {
      expect(scan(file, chunkBytes)).toMatchObject({ isMp4: true, durationSeconds: '5.04' })
    }
  })

  it('tells a whole file from one that broke off, wherever it was cut', () => {
    const file = Buffer.concat([fileType, box('moov', movieHeader(1000, 5040n)), mediaData])
    expect(scan(file)).toMatchObject({ hasMovie: true, isCut: false })
    const boundaries = new Set([0, fileType.length, file.length - mediaData.length])
    for (let bytes = 1; bytes < file.length; bytes += 1) {
      const endsInHeader = [...boundaries].some((end) => bytes >= end && bytes < end + 8)
      expect(scan(file.subarray(0, bytes)).isCut).toBe(!endsInHeader)
    }
  })

  it('tells a file without a movie box, which nothing can play', () => {
    expect(scan(fileType)).toMatchObject({ isMp4: true, hasMovie: false, isCut: false })
    expect(scan(Buffer.concat([fileType, mediaData]))).toMatchObject({ hasMovie: false, isCut: false })
  })

  it('reads a moov that reaches to the end of the file', () => {
    const moov = box('moov', movieHeader(24, 120n))
    moov.writeUInt32BE(0)
    expect(scan(Buffer.concat([fileType, moov]))).toMatchObject({ isMp4: true, durationSeconds: '5' })
  })

  it('does not take media data that reaches to the end for boxes', () => {
    const openEnded = box('mdat', box('moov', movieHeader(1000, 5040n)))
    openEnded.writeUInt32BE(0)
    expect(scan(Buffer.concat([fileType, openEnded]))).toMatchObject({ isMp4: true, durationSeconds: undefined })
  })

  it.each([
    [1000, 5000n, '5'],
    [30_000, 151_151n, '5.038'],
    [3, 1n, '0.333'],
    [3, 2n, '0.667'],
    [2000, 1n, '0.001'],
    [1000, 4_294_967_294n, '4294967.294'],
  ])('rounds half up to the millisecond: timescale %d, duration %d', (timescale, duration, expected) => {
    expect(scan(Buffer.concat([fileType, box('moov', movieHeader(timescale, duration))])).durationSeconds).toBe(
      expected,
    )
  })

  it.each([
    ['a timescale of zero', movieHeader(0, 5000n)],
    ['no length, as in fragmented files', movieHeader(1000, 0n)],
    ['an unknown length', movieHeader(1000, 0xffffffffn)],
    ['an unknown 64-bit length', movieHeader(1000, 0xffffffffffffffffn, 1)],
    ['an unknown version', movieHeader(1000, 5000n, 2)],
    ['a movie header that is too short', box('mvhd', Buffer.alloc(20))],
    ['a child longer than its moov', Buffer.concat([text('\0\0\x7f\xff'), text('trak')])],
    ['a box shorter than its header', Buffer.concat([text('\0\0\0\x04'), text('trak'), movieHeader(1000, 5n)])],
  ])('tells no duration for %s', (_name, child) => {
    expect(scan(Buffer.concat([fileType, box('moov', child)]))).toMatchObject({
      isMp4: true,
      durationSeconds: undefined,
    })
  })

  it.each([
    ['an empty file', Buffer.alloc(0)],
    ['half a box header', fileType.subarray(0, 7)],
    ['HTML', text('<!doctype html><html><body>ftyp</body></html>')],
    ['JSON', text('{"error":"ftyp"}')],
    ['zeros', Buffer.alloc(4096)],
    ['a movie without ftyp', box('moov', movieHeader(1000, 5040n))],
    ['ftyp that is not the first box', Buffer.concat([box('free'), fileType])],
    ['an ftyp box without a brand', box('ftyp')],
  ])('does not take %s for a video', (_name, file) => {
    expect(scan(file)).toMatchObject({ isMp4: false, durationSeconds: undefined })
  })

  it('tells no duration of a file that ends before it', () => {
    const file = Buffer.concat([fileType, box('moov', movieHeader(1000, 5040n))])
    expect(scan(file.subarray(0, fileType.length + 8 + 8 + 31))).toMatchObject({
      isMp4: true,
      durationSeconds: undefined,
    })
  })

  it('gives its verdict with the eighth byte', () => {
    const scanner = createMp4Scanner()
    scanner.push(fileType.subarray(0, 7))
    expect(scanner.verdict()).toBe('pending')
    scanner.push(fileType.subarray(7, 8))
    expect(scanner.verdict()).toBe('mp4')
  })

  it('never throws and never changes its mind about chunk borders, whatever the bytes', () => {
    const anyBox = fc
      .tuple(fc.constantFrom('ftyp', 'moov', 'mvhd', 'mdat', 'free'), fc.uint8Array({ maxLength: 150 }))
      .map(([type, content]) => box(type, content))
    const anyFile = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(anyBox, { maxLength: 5 }).map((boxes) => Buffer.concat([fileType, ...boxes])),
      fc.array(anyBox, { maxLength: 5 }).map((boxes) => Buffer.concat([fileType, box('moov', ...boxes)])),
    )
    fc.assert(
      fc.property(anyFile, fc.integer({ min: 1, max: 40 }), (file, chunkBytes) => {
        expect(scan(file, chunkBytes)).toStrictEqual(scan(file))
      }),
    )
  })
})

const head = (size: number, large?: bigint) => {
  const bytes = Buffer.alloc(large === undefined ? 8 : 16)
  bytes.writeUInt32BE(size)
  bytes.write('mdat', 4, 'latin1')
  if (large !== undefined) {
    bytes.writeBigUInt64BE(large, 8)
  }
  return bytes
}

describe('boxHeadAt', () => {
  it('reads a size of 32 bits, of 64 bits, and one that extends to the end of the file', () => {
    expect(boxHeadAt(head(20))).toStrictEqual({ type: 'mdat', contentStart: 8, end: 20 })
    expect(boxHeadAt(head(1, 5_000_000_000n))).toStrictEqual({ type: 'mdat', contentStart: 16, end: 5_000_000_000 })
    expect(boxHeadAt(head(0))).toStrictEqual({ type: 'mdat', contentStart: 8, end: Number.POSITIVE_INFINITY })
  })

  it.each([
    ['too few bytes', head(20).subarray(0, 7)],
    ['a size below its own head', head(7)],
    ['a 64-bit size without its bytes', head(1)],
    ['a 64-bit size below its own head', head(1, 15n)],
    ['a 64-bit size beyond exact numbers', head(1, 2n ** 60n)],
  ])('is undefined for %s', (_, bytes) => {
    expect(boxHeadAt(bytes)).toBeUndefined()
  })
})

describe('boxesIn', () => {
  const bytes = Buffer.concat([box('free'), box('moov', Buffer.from('abc')), box('mdat', Buffer.from('defg'))])

  it('yields adjacent boxes, and of the last one what is there', () => {
    const boxes = Array.from(boxesIn(bytes.subarray(0, -1)), ({ type, content, isWhole }) => [
      type,
      Buffer.from(content).toString(),
      isWhole,
    ])
    expect(boxes).toStrictEqual([
      ['free', '', true],
      ['moov', 'abc', true],
      ['mdat', 'def', false],
    ])
  })

  it('ends at the first invalid box', () => {
    expect(Array.from(boxesIn(Buffer.concat([box('free'), head(3), bytes])), ({ type }) => type)).toStrictEqual([
      'free',
    ])
  })

  it('findBox takes the first of a type', () => {
    expect(findBox(bytes, 'moov')?.content).toHaveLength(3)
    expect(findBox(bytes, 'trak')).toBeUndefined()
    expect(findBox(undefined, 'moov')).toBeUndefined()
  })
})

const windows = [
  { offset: 0, bytes: Buffer.from('abcd') },
  { offset: 2, bytes: Buffer.from('cdefgh') },
]

describe('bytesFrom', () => {
  it('takes the longest run of any window, up to the length', () => {
    expect(Buffer.from(bytesFrom(windows, 2, 4) ?? []).toString()).toBe('cdef')
    expect(Buffer.from(bytesFrom(windows, 6, 9) ?? []).toString()).toBe('gh')
  })

  it('is undefined where no window covers the offset', () => {
    expect(bytesFrom(windows, 8, 1)).toBeUndefined()
    expect(bytesFrom([], 0, 1)).toBeUndefined()
  })
})

describe('bytesAt', () => {
  it('joins no windows: a single one must hold all bytes', () => {
    expect(bytesAt(windows, { offset: 2, length: 6 })).toHaveLength(6)
    expect(bytesAt(windows, { offset: 1, length: 6 })).toBeUndefined()
  })
})

describe('readers of bytes at a position', () => {
  it('asciiAt has one character per byte', () => {
    expect(asciiAt(Uint8Array.of(0x89, 0x50, 0x4e, 0x47), 0, 2)).toBe('\x89P')
  })

  it('viewOf counts from the start of the bytes, not of their buffer', () => {
    expect(viewOf(Buffer.from([9, 9, 1, 2]).subarray(2)).getUint16(0)).toBe(0x0102)
  })
})
