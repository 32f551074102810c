import type { MediaFormat } from '../media/media-format.ts'
import type { MediaFacts } from '../media/read-media-facts.ts'
import type { ImageLimits, VideoLimits } from './reference-limits.ts'

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
