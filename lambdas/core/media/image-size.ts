import { asciiAt, bytesAt, type FileWindow, viewOf, type WantedBytes } from './file-bytes.ts'

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
