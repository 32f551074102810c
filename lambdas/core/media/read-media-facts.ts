import { BOX_HEAD_BYTES_MAX, boxHeadAt } from './boxes.ts'
import { bytesFrom, type FileWindow, type WantedBytes } from './file-window.ts'
import { jpegSize, type PixelReading, pngSize, webpSize } from './image-size.ts'
import { type MediaFormat, mediaFormatOf } from './media-format.ts'
import { readMovieFacts } from './movie-facts.ts'

/** What the bytes of a file tell about it; a member is missing where they do not. */
export type MediaFacts = {
  readonly format?: MediaFormat
  readonly width?: number
  readonly height?: number
  readonly seconds?: number
  readonly framesPerSecond?: number
}

/** `wants` names the bytes that would tell more; it is missing when no further bytes would. */
export type MediaReading = { readonly facts: MediaFacts; readonly wants?: WantedBytes }

/** Signature and first box heads. */
const HEAD_BYTES = 64
/** The movie box of a minute of video, tables included; what lies behind is not read. */
const MOVIE_BYTES_MAX = 1_048_576
/** Boxes beside the movie box; files have a handful. */
const OUTER_BOXES_MAX = 200

/**
 * Reads format, pixels of an image, length and frame rate of a video from the windows of a file that are at hand. Never throws,
 * whatever the bytes are, and takes time in proportion to them.
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

/** Walks over the outer boxes to the movie box, wherever it lies. */
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
    // A box to the end of the file, or one that ends where no file does and a number is no longer exact.
    if (!Number.isSafeInteger(offset + MOVIE_BYTES_MAX)) {
      return { facts }
    }
  }
  return { facts }
}
