import { type Box, boxesIn, findBox } from './boxes.ts'
import { asciiAt, viewOf } from './file-bytes.ts'

/** Facts from a movie box; a field is missing if the box does not define it with certainty. */
export type MovieFacts = { readonly seconds?: number; readonly framesPerSecond?: number }

/** A row of `stts`: a number of consecutive frames, and the length of each. */
type FrameRun = { readonly frames: number; readonly length: number }

const FRAME_RUN_BYTES = 8

/**
 * Reads length and frame rate of a movie in the client's favour: the shorter of the movie's length and its longest video
 * track's, edits included, and the rate of the closest two frames of the fastest video track. A fragmented movie yields neither.
 * @param movie content of the `moov` box, which may be incomplete.
 */
export function readMovieFacts(movie: Uint8Array): MovieFacts {
  const boxes = [...boxesIn(movie)]
  const header = boxes.find(({ type }) => type === 'mvhd')
  if (header === undefined || boxes.some(({ type }) => type === 'mvex')) {
    return {}
  }
  const tracks = boxes.filter((box) => box.type === 'trak' && isVideo(box))
  const seconds = movieSeconds(header, tracks)
  const framesPerSecond = highest(tracks.map(frameRate))
  return {
    ...(seconds === undefined ? {} : { seconds }),
    ...(framesPerSecond === undefined ? {} : { framesPerSecond }),
  }
}

function isVideo({ content }: Box): boolean {
  const handler = findBox(findBox(content, 'mdia')?.content, 'hdlr')
  return handler !== undefined && asciiAt(handler.content, 8, 4) === 'vide'
}

function movieSeconds(header: Box, tracks: readonly Box[]): number | undefined {
  const movie = readTimes(header.content, { timescale: [12, 20], duration: [16, 24] })
  if (movie === undefined) {
    return
  }
  const lengths = tracks.map(({ content }) => trackLength(findBox(content, 'tkhd')))
  const longest = highest(lengths)
  return Math.min(movie.duration, longest ?? movie.duration) / movie.timescale
}

/** In the movie's timescale, edits included: unlike the other headers, a track header has no timescale. */
function trackLength(header: Box | undefined): number | undefined {
  return header && readTimes(header.content, { duration: [20, 28] })?.duration
}

/** Undefined if any of the needed boxes is missing. */
function frameRate({ content }: Box): number | undefined {
  const media = findBox(content, 'mdia')?.content
  const times = readTimes(findBox(media, 'mdhd')?.content, { timescale: [12, 20], duration: [16, 24] })
  const samples = findBox(findBox(media, 'minf')?.content, 'stbl')?.content
  const runs = readFrameRuns(findBox(samples, 'stts'))
  if (times === undefined || runs === undefined) {
    return
  }
  // The length of the last frame does not depend on the rate.
  const last = runs.at(-1)
  const relevant = last?.frames === 1 && runs.length > 1 ? runs.slice(0, -1) : runs
  const lengths = relevant.filter(({ frames, length }) => frames > 0 && length > 0).map(({ length }) => length)
  return lengths.length === 0 ? undefined : times.timescale / lengths.reduce((least, each) => Math.min(least, each))
}

function readFrameRuns(box: Box | undefined): readonly FrameRun[] | undefined {
  if (box === undefined || !box.isWhole || box.content.length < FRAME_RUN_BYTES) {
    return
  }
  const view = viewOf(box.content)
  const rows = view.getUint32(4)
  if (FRAME_RUN_BYTES * (rows + 1) > box.content.length) {
    return
  }
  return Array.from({ length: rows }, (_, row) => ({
    frames: view.getUint32(FRAME_RUN_BYTES * (row + 1)),
    length: view.getUint32(FRAME_RUN_BYTES * (row + 1) + 4),
  }))
}

/** Offsets of a field in the two versions of a header: with 32-bit times, and with 64-bit times. */
type FieldPlaces = readonly [version0: number, version1: number]

/** Times of `mvhd`, `tkhd` or `mdhd`; undefined if bytes are missing or the duration is 0 or all ones, which means unknown. */
function readTimes(
  content: Uint8Array | undefined,
  places: { readonly timescale?: FieldPlaces; readonly duration: FieldPlaces },
): { timescale: number; duration: number } | undefined {
  const version = content?.[0]
  if (content === undefined || (version !== 0 && version !== 1)) {
    return
  }
  const view = viewOf(content)
  const durationAt = places.duration[version]
  if (content.length < durationAt + (version === 0 ? 4 : 8)) {
    return
  }
  const duration = version === 0 ? BigInt(view.getUint32(durationAt)) : view.getBigUint64(durationAt)
  const unknown = version === 0 ? 0xffff_ffffn : 0xffff_ffff_ffff_ffffn
  const timescale = places.timescale === undefined ? 1 : view.getUint32(places.timescale[version])
  return duration === 0n || duration === unknown || timescale === 0
    ? undefined
    : { timescale, duration: Number(duration) }
}

function highest(values: readonly (number | undefined)[]): number | undefined {
  return values.reduce(
    (most, each) => (each !== undefined && (most === undefined || each > most) ? each : most),
    undefined,
  )
}
