import type { MediaFacts, MediaFormat } from '../media-facts.ts'
import type { ImageLimits, VideoLimits, VideoModel } from './model.ts'
import type { VideoJobRequest } from './parameters.ts'

/** The known facts of a file: those in its bytes, and its size if the server reported it. */
export type FileFacts = MediaFacts & { readonly sizeBytes?: number }

/** The limits for the kind of a file; for a video also its longest length, 0 for no limit. */
export type FileLimits = (ImageLimits | VideoLimits) & { readonly secondsMax?: number }

/** The limit that a file breaks. `words` continues a sentence that begins with the name of the file. */
export type Violation = {
  readonly limit: 'format' | 'size' | 'pixels' | 'aspect_ratio' | 'length' | 'frame_rate'
  readonly words: string
}

/**
 * Lengths and frame rates are rarely exact: 30 fps is often 29.97, and sound often outlasts the pictures. The upstream decides
 * about a file that is up to one per cent beyond a limit.
 */
const MEASURING_TOLERANCE = 0.01

/** Absorbs the floating-point error of a ratio that is computed from pixels. */
const RATIO_TOLERANCE = 1e-9

/** 2^20 bytes: a file that breaks a limit in this unit also breaks it in megabytes of 10^6 bytes. */
const MEGABYTE = 1_048_576

const FORMAT_NAMES: Readonly<Record<MediaFormat, string>> = {
  ...{ jpeg: 'JPEG', png: 'PNG', webp: 'WEBP', gif: 'GIF', bmp: 'BMP', tiff: 'TIFF', avif: 'AVIF', heic: 'HEIC' },
  ...{ mp4: 'MP4', mov: 'MOV', webm: 'WEBM', avi: 'AVI' },
}

/** The first limit that a file certainly breaks. Unknown facts and values at a limit break none. */
export function findViolation(file: FileFacts, limits: FileLimits): Violation | undefined {
  return (
    formatViolation(file, limits) ??
    sizeViolation(file, limits) ??
    pixelViolation(file, limits) ??
    timeViolation(file, limits)
  )
}

function formatViolation({ format }: FileFacts, { formats }: FileLimits): Violation | undefined {
  const allowed: readonly MediaFormat[] = formats
  if (format === undefined || allowed.includes(format)) {
    return
  }
  const names = allowed.map((each) => FORMAT_NAMES[each])
  const last = names.pop()
  const list = names.length === 0 ? last : `${names.join(', ')} and ${last}`
  return { limit: 'format', words: `has the format ${FORMAT_NAMES[format]}; allowed: ${list}` }
}

function sizeViolation({ sizeBytes }: FileFacts, { bytes_max }: FileLimits): Violation | undefined {
  if (sizeBytes === undefined || bytes_max === undefined || sizeBytes <= bytes_max) {
    return
  }
  const limit = `${bytes_max} bytes${bytes_max % MEGABYTE === 0 ? ` (${bytes_max / MEGABYTE} MB)` : ''}`
  return { limit: 'size', words: `has ${sizeBytes} bytes; the most is ${limit}` }
}

function pixelViolation({ width, height }: FileFacts, limits: FileLimits): Violation | undefined {
  if (width === undefined || height === undefined || !('short_side_min' in limits || 'aspect_ratio_max' in limits)) {
    return
  }
  const { short_side_min: sideMin = 1, aspect_ratio_max: ratioMax = Number.POSITIVE_INFINITY } = limits
  const short = Math.min(width, height)
  const pixels = `has ${width}x${height} pixels`
  if (short < sideMin) {
    return { limit: 'pixels', words: `${pixels}; the shorter side needs ${sideMin}` }
  }
  const isTooLong = Math.max(width, height) > short * (ratioMax + RATIO_TOLERANCE)
  return isTooLong
    ? { limit: 'aspect_ratio', words: `${pixels}; the longer side may be ${ratioMax} times the shorter one at most` }
    : undefined
}

function timeViolation({ seconds, framesPerSecond }: FileFacts, limits: FileLimits): Violation | undefined {
  const { secondsMax = 0 } = limits
  if (seconds !== undefined && secondsMax > 0 && seconds > secondsMax * (1 + MEASURING_TOLERANCE)) {
    return { limit: 'length', words: `is ${rounded(seconds)} seconds long; the most is ${secondsMax}` }
  }
  const rateMin = 'frames_per_second_min' in limits ? (limits.frames_per_second_min ?? 0) : 0
  return framesPerSecond !== undefined && framesPerSecond < rateMin * (1 - MEASURING_TOLERANCE)
    ? { limit: 'frame_rate', words: `has ${rounded(framesPerSecond)} frames per second; the least is ${rateMin}` }
    : undefined
}

function rounded(value: number): string {
  return String(Number(value.toFixed(2)))
}

/** A reference for which the model has limits. */
export type LimitedReference = {
  /** Its place in the request: `image_urls[0]`. */
  readonly place: string
  /** A link, or the image itself as `data:image/...;base64`. */
  readonly url: string
  readonly limits: FileLimits
}

/** The references for which the model has limits, in the order of the request. There are no limits for audio. */
export function limitedReferences(
  request: Pick<VideoJobRequest, 'image_urls' | 'video_urls'>,
  model: Pick<VideoModel, 'reference_limits' | 'input_video_seconds_max'>,
): readonly LimitedReference[] {
  const { images, videos } = model.reference_limits ?? {}
  const placed = (list: 'image_urls' | 'video_urls', limits: FileLimits | undefined) =>
    limits === undefined ? [] : request[list].map((url, index) => ({ place: `${list}[${index}]`, url, limits }))
  return [
    ...placed('image_urls', images),
    ...placed('video_urls', videos && { ...videos, secondsMax: model.input_video_seconds_max }),
  ]
}

/** A short name with an extension, as people name files. Anything else may be a secret. */
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._ -]{0,78}\.[A-Za-z0-9]{2,5}$/

/**
 * Names a reference for the client: its place in the request and, for a link, the name of the file. The rest of a url is not
 * shown, because its query and its path may hold a signature.
 */
export function referenceName(place: string, url: string): string {
  const fileName = fileNameOf(url)
  return fileName === undefined ? place : `${place} (${fileName})`
}

/** The output of `referenceName`; the place is captured without the name of the file. */
const NAMED_PLACE = /^((?:image|video)_urls\[\d+\]) \([A-Za-z0-9][A-Za-z0-9._ -]*\)/

/**
 * Removes the name of the file from a sentence that begins with a reference, because the name may be a client's secret, and
 * operators and logs must not show it. Any other sentence stays as it is.
 */
export function withoutFileName(sentence: string): string {
  return sentence.replace(NAMED_PLACE, '$1')
}

function fileNameOf(url: string): string | undefined {
  const segment = /^https?:/i.test(url) ? URL.parse(url)?.pathname.split('/').at(-1) : undefined
  return segment !== undefined && FILE_NAME.test(decoded(segment)) ? decoded(segment) : undefined
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
