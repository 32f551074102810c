/** Files of which only the header is real, made to measure. */

const ascii = (text: string) => Buffer.from(text, 'latin1')

function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, index) => {
    bytes.writeUInt32BE(value, index * 4)
  })
  return bytes
}

type Pixels = { readonly width: number; readonly height: number }

export function pngFile({ width, height }: Pixels): Buffer {
  return Buffer.concat([ascii('\x89PNG\r\n\x1a\n'), uint32(13), ascii('IHDR'), uint32(width, height), Buffer.alloc(9)])
}

/** @param metadata bytes of segments before the frame header, which has this marker (0xc0 baseline, 0xc2 progressive) */
export function jpegFile({ width, height }: Pixels, { metadata = 0, marker = 0xc0 } = {}): Buffer {
  const parts = [ascii('\xff\xd8')]
  for (let left = metadata; left > 0; left -= 60_000) {
    const segment = Buffer.alloc(Math.min(left, 60_000) + 4, 0xff)
    segment.writeUInt16BE(0xffe1)
    segment.writeUInt16BE(segment.length - 2, 2)
    parts.push(segment)
  }
  // A table of Huffman codes, whose marker lies among those of frame headers, and a fill byte.
  parts.push(Buffer.from([0xff, 0xc4, 0, 4, 1, 2, 0xff]))
  const frame = Buffer.from([0xff, marker, 0, 17, 8, 0, 0, 0, 0, 3, 1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1])
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  return Buffer.concat([...parts, frame, ascii('\xff\xda'), Buffer.alloc(40)])
}

/** @param coding a lossy picture, a lossless one, or a canvas with more than one picture */
export function webpFile({ width, height }: Pixels, coding: 'VP8 ' | 'VP8L' | 'VP8X'): Buffer {
  const content = Buffer.alloc(32)
  if (coding === 'VP8X') {
    content.writeUIntLE(width - 1, 4, 3)
    content.writeUIntLE(height - 1, 7, 3)
  } else if (coding === 'VP8L') {
    content.writeUInt8(0x2f)
    content.writeUInt32LE((width - 1) | ((height - 1) << 14), 1)
  } else {
    content.write('\x9d\x01\x2a', 3, 'latin1')
    // The two upper bits say how much a player may enlarge the picture.
    content.writeUInt16LE(width | 0x4000, 6)
    content.writeUInt16LE(height | 0x8000, 8)
  }
  return Buffer.concat([ascii('RIFF'), uint32(0), ascii('WEBP'), ascii(coding), uint32(0), content])
}

export function box(type: string, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([uint32(body.length + 8), ascii(type), body])
}

export const fileType = (brand = 'isom') => box('ftyp', ascii(brand), uint32(512), ascii('isomiso2avc1mp41'))

/** `mvhd` or `mdhd`, with 32-bit times or 64-bit ones. */
function times(type: 'mvhd' | 'mdhd', timescale: number, duration: number, version: 0 | 1 = 0): Buffer {
  const content = Buffer.alloc(100)
  content.writeUInt8(version)
  content.writeUInt32BE(timescale, version === 0 ? 12 : 20)
  if (version === 0) {
    content.writeUInt32BE(duration, 16)
  } else {
    content.writeBigUInt64BE(BigInt(duration), 24)
  }
  return box(type, content)
}

type Track = {
  readonly handler?: 'vide' | 'soun'
  /** In thousandths of a second, after edits. */
  readonly length?: number
  /** Frames and how long each of them lasts, in units of the timescale. */
  readonly runs?: readonly (readonly [frames: number, length: number])[]
  readonly timescale?: number
  readonly version?: 0 | 1
}

export function track({
  handler = 'vide',
  length = 3000,
  runs = [[72, 1000]],
  timescale = 24_000,
  version = 0,
}: Track = {}) {
  const header = Buffer.alloc(92)
  header.writeUInt8(version)
  if (version === 0) {
    header.writeUInt32BE(length, 20)
  } else {
    header.writeBigUInt64BE(BigInt(length), 28)
  }
  const total = runs.reduce((sum, [frames, each]) => sum + frames * each, 0)
  const samples = box('stbl', box('stsd', uint32(0, 0)), box('stts', uint32(0, runs.length, ...runs.flat())))
  // QuickTime has a second handler inside `minf`, which says nothing of the track.
  const information = box('minf', box('hdlr', uint32(0), ascii('dhlralis'), uint32(0, 0, 0)), samples)
  const media = box(
    'mdia',
    times('mdhd', timescale, total, version),
    box('hdlr', uint32(0, 0), ascii(handler), uint32(0, 0, 0)),
    information,
  )
  return box('trak', box('tkhd', header), media)
}

type Movie = {
  readonly length?: number
  readonly tracks?: readonly Buffer[]
  readonly version?: 0 | 1
  readonly more?: Buffer
}

/** A movie box whose times are thousandths of a second. */
export function movie({ length = 3000, tracks = [track()], version = 0, more = Buffer.alloc(0) }: Movie = {}): Buffer {
  return box('moov', times('mvhd', 1000, length, version), ...tracks, more)
}

export const mediaData = (bytes = 3000) => box('mdat', Buffer.alloc(bytes, 0x66))

/** An ordinary recording: its movie box behind the media data. */
export function videoFile(parts: Movie = {}, mediaBytes = 3000): Buffer {
  return Buffer.concat([fileType(), mediaData(mediaBytes), movie(parts)])
}
