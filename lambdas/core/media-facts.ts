import {
  asciiAt,
  BOX_HEAD_BYTES_MAX,
  boxHeadAt,
  bytesAt,
  bytesFrom,
  type FileWindow,
  readMovieFacts,
  viewOf,
  type WantedBytes,
} from './mp4.ts'

/** Pixels as stored. A rotation in EXIF would swap the sides, which makes no difference to the limits. */
type PixelSize = { readonly width: number; readonly height: number }

/** The size if it was found, else the bytes that may hold it. */
export type PixelReading = { readonly size?: PixelSize; readonly wants?: WantedBytes }

/** A marker and the length of its segment; in a frame header, precision, height and width follow (ITU-T T.81, B.2.2). */
const JPEG_SEGMENT_BYTES = 4
const JPEG_FRAME_BYTES = 9
/** Segments are at most 64 KB long, so a window of this size usually holds the next one. */
const JPEG_WINDOW_BYTES = 65_536
/** Far more than any camera writes; bounds the loop for a file of tiny segments. */
const JPEG_SEGMENTS_MAX = 2_000

/** Reads the header chunk, which comes first (PNG, 5.6). */
export function pngSize(windows: readonly FileWindow[]): PixelReading {
  const head = bytesAt(windows, { offset: 0, length: 24 })
  if (head === undefined || asciiAt(head, 12, 4) !== 'IHDR') {
    return {}
  }
  const view = viewOf(head)
  return sized(view.getUint32(16), view.getUint32(20))
}

/** Reads the canvas of an extended file, also of an animation, else the size of the only frame (RFC 9649, 2.5 to 2.7). */
export function webpSize(windows: readonly FileWindow[]): PixelReading {
  const head = bytesAt(windows, { offset: 0, length: 30 })
  if (head === undefined) {
    return {}
  }
  const view = viewOf(head)
  switch (asciiAt(head, 12, 4)) {
    case 'VP8X':
      return sized(1 + threeBytes(view, 24), 1 + threeBytes(view, 27))
    case 'VP8L': {
      const bits = view.getUint32(21, true)
      return head[20] === 0x2f ? sized(1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)) : {}
    }
    case 'VP8 ':
      return asciiAt(head, 23, 3) === '\x9d\x01\x2a'
        ? sized(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff)
        : {}
    default:
      return {}
  }
}

/** Reads the frame header and skips the metadata segments before it. */
export function jpegSize(windows: readonly FileWindow[]): PixelReading {
  let offset = 2
  for (let segments = 0; segments < JPEG_SEGMENTS_MAX; segments += 1) {
    const segment = bytesAt(windows, { offset, length: JPEG_SEGMENT_BYTES })
    if (segment === undefined) {
      return { wants: { offset, length: JPEG_WINDOW_BYTES } }
    }
    const view = viewOf(segment)
    const marker = view.getUint8(1)
    if (view.getUint8(0) !== 0xff) {
      return {}
    }
    if (marker === 0xff) {
      // A fill byte before the marker.
      offset += 1
    } else if (isFrameHeader(marker)) {
      return jpegFrameSize(windows, offset)
    } else if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xda) || view.getUint16(2) < 2) {
      // No segment, or image data, which only follows a frame header.
      return {}
    } else {
      offset += 2 + view.getUint16(2)
    }
  }
  return {}
}

/** SOF0 to SOF15, except for the markers DHT, JPG and DAC in that range. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function jpegFrameSize(windows: readonly FileWindow[], offset: number): PixelReading {
  const frame = bytesAt(windows, { offset, length: JPEG_FRAME_BYTES })
  if (frame === undefined) {
    return { wants: { offset, length: JPEG_WINDOW_BYTES } }
  }
  const view = viewOf(frame)
  return sized(view.getUint16(7), view.getUint16(5))
}

function threeBytes(view: DataView, offset: number): number {
  return view.getUint16(offset, true) + view.getUint8(offset + 2) * 0x1_00_00
}

/** Treats a side of 0 as an unknown size: a JPEG may define it later; elsewhere it is an error. */
function sized(width: number, height: number): PixelReading {
  return width > 0 && height > 0 ? { size: { width, height } } : {}
}

/** Image formats that the gateway recognises. */
export const IMAGE_FORMATS = ['jpeg', 'png', 'webp', 'gif', 'bmp', 'tiff', 'avif', 'heic'] as const
/** Video formats that the gateway recognises. Matroska counts as WebM, because both begin alike. */
export const VIDEO_FORMATS = ['mp4', 'mov', 'webm', 'avi'] as const

type ImageFormat = (typeof IMAGE_FORMATS)[number]
type VideoFormat = (typeof VIDEO_FORMATS)[number]
/** A format that the first bytes of a file identify. */
export type MediaFormat = ImageFormat | VideoFormat

/** Length that covers every signature below. */
const SIGNATURE_BYTES = 32

const PNG_SIGNATURE = '\x89PNG\r\n\x1a\n'
/** Sizes of the second header of a bitmap in its versions. */
const BITMAP_HEADER_BYTES: readonly number[] = [12, 40, 52, 56, 64, 108, 124]
/** Image formats by the brand of an `ftyp` box (ISO/IEC 14496-12). */
const IMAGE_BRANDS: ReadonlyMap<string, ImageFormat> = new Map([
  ['avif', 'avif'],
  ['avis', 'avif'],
  ['heic', 'heic'],
  ['heix', 'heic'],
  ['heim', 'heic'],
  ['heis', 'heic'],
  ['hevc', 'heic'],
])
/** Brands of images whose coding is in another brand. */
const OPEN_BRANDS: readonly string[] = ['mif1', 'msf1', 'miaf']
/** First boxes of a QuickTime file without `ftyp`. */
const QUICKTIME_BOXES: readonly string[] = ['moov', 'mdat', 'wide', 'pnot']

/** The format that the first bytes of a file declare; undefined for an unknown one. */
export function mediaFormatOf(head: Uint8Array): MediaFormat | undefined {
  if (head.length < SIGNATURE_BYTES) {
    return
  }
  const text = (start: number, length: number) => asciiAt(head, start, length)
  if (text(0, 3) === '\xff\xd8\xff') {
    return 'jpeg'
  }
  if (text(0, 8) === PNG_SIGNATURE) {
    return 'png'
  }
  if (text(0, 6) === 'GIF87a' || text(0, 6) === 'GIF89a') {
    return 'gif'
  }
  if (text(0, 4) === 'II*\0' || text(0, 4) === 'MM\0*') {
    return 'tiff'
  }
  if (text(0, 2) === 'BM' && BITMAP_HEADER_BYTES.includes(viewOf(head).getUint32(14, true))) {
    return 'bmp'
  }
  return containerFormatOf(text)
}

function containerFormatOf(text: (start: number, length: number) => string): MediaFormat | undefined {
  if (text(0, 4) === 'RIFF') {
    return text(8, 4) === 'WEBP' ? 'webp' : text(8, 4) === 'AVI ' ? 'avi' : undefined
  }
  if (text(0, 4) === '\x1aE\xdf\xa3') {
    return 'webm'
  }
  if (text(4, 4) === 'ftyp') {
    const brand = text(8, 4)
    if (OPEN_BRANDS.includes(brand)) {
      return
    }
    return brand === 'qt  ' ? 'mov' : (IMAGE_BRANDS.get(brand) ?? 'mp4')
  }
  return QUICKTIME_BOXES.includes(text(4, 4)) ? 'mov' : undefined
}

/** Facts from the bytes of a file; a field is missing if unknown. */
export type MediaFacts = {
  readonly format?: MediaFormat
  readonly width?: number
  readonly height?: number
  readonly seconds?: number
  readonly framesPerSecond?: number
}

/** `wants` names the bytes that may hold more facts; missing if no further bytes are needed. */
export type MediaReading = { readonly facts: MediaFacts; readonly wants?: WantedBytes }

/** Signature and first box heads. */
const HEAD_BYTES = 64
/** Most bytes of a movie box that are read; enough for a minute of video. */
const MOVIE_BYTES_MAX = 1_048_576
/** Most boxes beside the movie box; files have a handful. */
const OUTER_BOXES_MAX = 200

/**
 * Reads the format, the pixels of an image, and the length and frame rate of a video from some windows of a file. Never throws,
 * and takes linear time.
 */
export function readMediaFacts(windows: readonly FileWindow[]): MediaReading {
  const format = mediaFormatOf(bytesFrom(windows, 0, HEAD_BYTES) ?? new Uint8Array())
  switch (format) {
    case 'jpeg':
      return imageReading(format, jpegSize(windows))
    case 'png':
      return imageReading(format, pngSize(windows))
    case 'webp':
      return imageReading(format, webpSize(windows))
    case 'mp4':
    case 'mov':
      return movieReading(format, windows)
    case undefined:
      return { facts: {} }
    default:
      return { facts: { format } }
  }
}

function imageReading(format: MediaFormat, { size, wants }: PixelReading): MediaReading {
  return { facts: { format, ...size }, ...(wants === undefined ? {} : { wants }) }
}

/** Skips the outer boxes up to the movie box. */
function movieReading(format: MediaFormat, windows: readonly FileWindow[]): MediaReading {
  const facts = { format }
  let offset = 0
  for (let boxes = 0; boxes < OUTER_BOXES_MAX; boxes += 1) {
    const bytes = bytesFrom(windows, offset, MOVIE_BYTES_MAX)
    if (bytes === undefined) {
      return { facts, wants: { offset, length: MOVIE_BYTES_MAX } }
    }
    const head = boxHeadAt(bytes)
    if (head === undefined) {
      return bytes.length < BOX_HEAD_BYTES_MAX ? { facts, wants: { offset, length: MOVIE_BYTES_MAX } } : { facts }
    }
    if (head.type === 'moov') {
      const wanted = Math.min(head.end, MOVIE_BYTES_MAX)
      return {
        facts: { format, ...readMovieFacts(bytes.subarray(head.contentStart, wanted)) },
        ...(bytes.length < wanted ? { wants: { offset, length: wanted } } : {}),
      }
    }
    offset += head.end
    // The box extends to the end of the file, or to an offset that a number cannot hold exactly.
    if (!Number.isSafeInteger(offset + MOVIE_BYTES_MAX)) {
      return { facts }
    }
  }
  return { facts }
}
