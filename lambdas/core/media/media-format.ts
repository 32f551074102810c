import { asciiAt, viewOf } from './file-bytes.ts'

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
