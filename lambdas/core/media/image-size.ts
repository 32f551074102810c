import { asciiAt, viewOf } from './bytes.ts'
import { bytesAt, type FileWindow, type WantedBytes } from './file-window.ts'

/** Pixels as stored: a rotation noted in EXIF would swap the two, which no limit here can tell. */
type PixelSize = { readonly width: number; readonly height: number }

/** What could be read, and otherwise which bytes would tell more. */
export type PixelReading = { readonly size?: PixelSize; readonly wants?: WantedBytes }

/** A marker, the length of its segment, and of a frame header the precision, height and width behind it (ITU-T T.81, B.2.2). */
const JPEG_SEGMENT_BYTES = 4
const JPEG_FRAME_BYTES = 9
/** Segments are at most 64 KB long, so this much holds the next one as a rule. */
const JPEG_WINDOW_BYTES = 65_536
/** Far more than any camera writes; a file of two-byte segments is none. */
const JPEG_SEGMENTS_MAX = 2_000

/** The size in the header chunk, which comes first (PNG, 5.6). */
export function pngSize(windows: readonly FileWindow[]): PixelReading {
  const head = bytesAt(windows, { offset: 0, length: 24 })
  if (head === undefined || asciiAt(head, 12, 4) !== 'IHDR') {
    return {}
  }
  const view = viewOf(head)
  return sized(view.getUint32(16), view.getUint32(20))
}

/** The canvas of an extended file, moving ones included, else the size of the one frame (RFC 9649, 2.5 to 2.7). */
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

/** The size in the frame header, wherever it lies behind the segments of metadata, which are passed over unread. */
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
      // No segment, or the picture itself: a frame header would have come before.
      return {}
    } else {
      offset += 2 + view.getUint16(2)
    }
  }
  return {}
}

/** SOF0 to SOF15, without the three markers between them that mean tables (DHT, JPG, DAC). */
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

/** A side of nothing is no size: of a JPEG it comes later, elsewhere it is a fault. */
function sized(width: number, height: number): PixelReading {
  return width > 0 && height > 0 ? { size: { width, height } } : {}
}
