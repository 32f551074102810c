import { BOX_HEAD_BYTES_MAX, boxHeadAt } from './boxes.ts'
import { bytesFrom, type FileWindow, type WantedBytes } from './file-bytes.ts'
import { jpegSize, type PixelReading, pngSize, webpSize } from './image-size.ts'
import { type MediaFormat, mediaFormatOf } from './media-format.ts'
import { readMovieFacts } from './movie-facts.ts'

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
