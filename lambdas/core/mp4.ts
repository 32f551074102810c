import { divideHalfUp } from './money.ts'

/** `pending` until the first box header is complete. */
type Mp4Verdict = 'pending' | 'mp4' | 'not_mp4'

/** Facts from the bytes of a file. */
export type Mp4Header = {
  /** Whether the file begins with an `ftyp` box, as every MP4 file does. */
  readonly isMp4: boolean
  /** Whether the file has a movie box, which every player needs. */
  readonly hasMovie: boolean
  /** Whether the last box lacks bytes or a box is invalid: the file is incomplete. */
  readonly isCut: boolean
  /** Length of the movie in seconds: a decimal string with at most three places; undefined if unknown. */
  readonly durationSeconds: string | undefined
}

/**
 * Reads the header of a video from a stream. `boxes.ts` and `movie-facts.ts` read files with random access, but each byte of a
 * result that is being stored passes once, and `moov` may follow hundreds of megabytes of media. So the scanner follows the
 * boxes as they arrive, keeps none of the media in memory, and finds out whether the file is complete.
 */
export type Mp4Scanner = {
  push(chunk: Uint8Array): void
  /** Final after a few bytes, so that the download of a file that is no video stops early. */
  verdict(): Mp4Verdict
  finish(): Mp4Header
}

/** Size and type of a box; a 64-bit size follows if the size is 1 (ISO/IEC 14496-12, 4.2). */
const BOX_HEADER_BYTES = 8
const LARGE_BOX_HEADER_BYTES = 16

/** The box header, a major brand and its version. */
const FILE_TYPE_BOX_BYTES_MIN = 16

/** The fields of `mvhd` up to the duration in the longer version 1; the most that is kept in memory. */
const MOVIE_HEADER_BYTES = 32

/** Durations are written in whole milliseconds. */
const MILLISECONDS_PER_SECOND = 1000n

/** Creates a scanner. It never throws: invalid bytes end the search for the duration. */
export function createMp4Scanner(): Mp4Scanner {
  const scanner = new BoxScanner()
  return {
    push: (chunk) => scanner.push(chunk),
    verdict: () => scanner.verdict,
    finish: () => ({
      isMp4: scanner.verdict === 'mp4',
      hasMovie: scanner.hasMovie,
      isCut: scanner.isCut,
      durationSeconds: scanner.durationSeconds,
    }),
  }
}

class BoxScanner {
  verdict: Mp4Verdict = 'pending'
  durationSeconds: string | undefined = undefined
  readonly #kept = new Uint8Array(MOVIE_HEADER_BYTES)
  readonly #view = new DataView(this.#kept.buffer)
  #keptBytes = 0
  #wantedBytes = BOX_HEADER_BYTES
  #reading: 'box' | 'movie header' | 'nothing' = 'box'
  /** Bytes of the current box to skip. */
  #skipBytes = 0
  /** Position in the file, and the end of the surrounding `moov` (0 outside of one). */
  #position = 0
  #movieEnd = 0
  hasMovie = false
  /** The end of the current outermost box; infinite for a box that extends to the end of the file. */
  #boxEnd = 0

  /** Bytes behind the last box that are too few for another header count as padding. */
  get isCut(): boolean {
    const seen = this.#position - (this.#reading === 'box' ? this.#keptBytes : 0)
    return this.#reading === 'nothing' || (this.#boxEnd !== Number.POSITIVE_INFINITY && seen !== this.#boxEnd)
  }

  push(chunk: Uint8Array): void {
    let offset = 0
    while (offset < chunk.length && this.#reading !== 'nothing') {
      const available = chunk.length - offset
      const isSkipping = this.#skipBytes > 0
      const taken = Math.min(available, isSkipping ? this.#skipBytes : this.#wantedBytes - this.#keptBytes)
      if (isSkipping) {
        this.#skipBytes -= taken
      } else {
        this.#kept.set(chunk.subarray(offset, offset + taken), this.#keptBytes)
        this.#keptBytes += taken
      }
      offset += taken
      this.#position += taken
      if (this.#keptBytes === this.#wantedBytes) {
        this.#read()
      }
    }
  }

  #read(): void {
    if (this.#reading === 'movie header') {
      this.durationSeconds = this.#readDuration()
      this.#reading = 'box'
      this.#skip(this.#movieEnd - this.#position)
      return
    }
    const type = String.fromCharCode(...this.#kept.subarray(4, BOX_HEADER_BYTES))
    const size = this.#view.getUint32(0)
    if (this.verdict === 'pending') {
      this.verdict = type === 'ftyp' && size >= FILE_TYPE_BOX_BYTES_MIN ? 'mp4' : 'not_mp4'
    }
    if (this.verdict === 'not_mp4') {
      this.#reading = 'nothing'
    } else if (size === 1 && this.#wantedBytes === BOX_HEADER_BYTES) {
      this.#wantedBytes = LARGE_BOX_HEADER_BYTES
    } else {
      this.#enterBox(type, this.#contentBytes(size))
    }
  }

  /** Bytes behind the box header; a size of 0 extends to the end of the file. */
  #contentBytes(size: number): number {
    if (size === 0) {
      return Number.POSITIVE_INFINITY
    }
    return size === 1
      ? Number(this.#view.getBigUint64(BOX_HEADER_BYTES)) - LARGE_BOX_HEADER_BYTES
      : size - BOX_HEADER_BYTES
  }

  #enterBox(type: string, contentBytes: number): void {
    const isInsideMovie = this.#position <= this.#movieEnd
    const end = this.#position + contentBytes
    if (contentBytes < 0 || (isInsideMovie && end > this.#movieEnd)) {
      this.#reading = 'nothing'
    } else if (isInsideMovie && type === 'mvhd' && contentBytes >= MOVIE_HEADER_BYTES) {
      this.#reading = 'movie header'
      this.#keptBytes = 0
      this.#wantedBytes = MOVIE_HEADER_BYTES
    } else if (isInsideMovie) {
      this.#skip(contentBytes)
    } else {
      this.#enterOuterBox(type, end)
    }
  }

  /** Movie boxes are entered until the length is known; others are skipped. */
  #enterOuterBox(type: string, end: number): void {
    const isOfInterest = type === 'moov' && this.durationSeconds === undefined
    this.#boxEnd = end
    this.hasMovie ||= type === 'moov'
    this.#movieEnd = isOfInterest ? end : this.#movieEnd
    this.#skip(isOfInterest ? 0 : end - this.#position)
  }

  #skip(bytes: number): void {
    this.#keptBytes = 0
    this.#wantedBytes = BOX_HEADER_BYTES
    this.#skipBytes = bytes
  }

  /** Version 0 has 32-bit times, version 1 has 64-bit times; all bits set means an unknown length. */
  #readDuration(): string | undefined {
    const version = this.#view.getUint8(0)
    if (version > 1) {
      return undefined
    }
    const timescale = this.#view.getUint32(version === 0 ? 12 : 20)
    const duration = version === 0 ? BigInt(this.#view.getUint32(16)) : this.#view.getBigUint64(24)
    const unknown = version === 0 ? 0xffffffffn : 0xffffffffffffffffn
    if (timescale === 0 || duration === unknown) {
      return undefined
    }
    return formatMilliseconds(divideHalfUp(duration * MILLISECONDS_PER_SECOND, BigInt(timescale)))
  }
}

/** `5040n` becomes `"5.04"`. A length of 0 is that of a fragmented file and means unknown. */
function formatMilliseconds(milliseconds: bigint): string | undefined {
  if (milliseconds === 0n) {
    return undefined
  }
  const fraction = (milliseconds % MILLISECONDS_PER_SECOND).toString().padStart(3, '0').replace(/0+$/, '')
  return `${milliseconds / MILLISECONDS_PER_SECOND}${fraction === '' ? '' : `.${fraction}`}`
}

/** A part of a file. A header can be read from a few windows, without the rest of the file. */
export type FileWindow = { readonly offset: number; readonly bytes: Uint8Array }

/** Bytes of a file that a reader still needs. */
export type WantedBytes = { readonly offset: number; readonly length: number }

/** The longest run of at most `length` bytes from `offset` on in one window; undefined if no window covers `offset`. */
export function bytesFrom(windows: readonly FileWindow[], offset: number, length: number): Uint8Array | undefined {
  const found = windows
    .filter((window) => window.offset <= offset && offset < window.offset + window.bytes.length)
    .map((window) => window.bytes.subarray(offset - window.offset, offset - window.offset + length))
  return found.toSorted((left, right) => right.length - left.length)[0]
}

/** Exactly these bytes; undefined if no single window holds all of them. */
export function bytesAt(windows: readonly FileWindow[], { offset, length }: WantedBytes): Uint8Array | undefined {
  const bytes = bytesFrom(windows, offset, length)
  return bytes?.length === length ? bytes : undefined
}

/** The string of some bytes, one character per byte. */
export function asciiAt(bytes: Uint8Array, start: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(start, start + length))
}

/** A view for reads at fixed positions; the caller has checked the length. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** A box of an MP4 or MOV file (ISO/IEC 14496-12, 4.2). */
export type Box = {
  readonly type: string
  /** As much of the content as the given bytes hold. */
  readonly content: Uint8Array
  /** Whether the given bytes hold all of the content. */
  readonly isWhole: boolean
}

/** The head of a box; positions in bytes. `end` is infinite for a box that extends to the end of the file. */
export type BoxHead = { readonly type: string; readonly contentStart: number; readonly end: number }

/** Longest head: size, type, and a 64-bit size if the size is 1. */
export const BOX_HEAD_BYTES_MAX = 16
const BOX_HEAD_BYTES = 8

/** Reads the head of the box at `start`; undefined if bytes are missing or the size is invalid. */
export function boxHeadAt(bytes: Uint8Array, start = 0): BoxHead | undefined {
  if (bytes.length - start < BOX_HEAD_BYTES) {
    return
  }
  const view = viewOf(bytes)
  const size = view.getUint32(start)
  const type = asciiAt(bytes, start + 4, 4)
  if (size === 1) {
    const isThere = bytes.length - start >= BOX_HEAD_BYTES_MAX
    const largeSize = isThere ? Number(view.getBigUint64(start + BOX_HEAD_BYTES)) : 0
    const isSound = largeSize >= BOX_HEAD_BYTES_MAX && Number.isSafeInteger(start + largeSize)
    return isSound ? { type, contentStart: start + BOX_HEAD_BYTES_MAX, end: start + largeSize } : undefined
  }
  if (size === 0) {
    return { type, contentStart: start + BOX_HEAD_BYTES, end: Number.POSITIVE_INFINITY }
  }
  return size < BOX_HEAD_BYTES ? undefined : { type, contentStart: start + BOX_HEAD_BYTES, end: start + size }
}

/** Yields adjacent boxes up to the first invalid one. Each is at least eight bytes long. */
export function* boxesIn(bytes: Uint8Array): Generator<Box> {
  let start = 0
  while (start < bytes.length) {
    const head = boxHeadAt(bytes, start)
    if (head === undefined) {
      return
    }
    const content = bytes.subarray(head.contentStart, Math.min(head.end, bytes.length))
    yield { type: head.type, content, isWhole: head.end <= bytes.length }
    start = head.end
  }
}

/** The first box of this type. */
export function findBox(bytes: Uint8Array | undefined, type: string): Box | undefined {
  for (const box of boxesIn(bytes ?? new Uint8Array())) {
    if (box.type === type) {
      return box
    }
  }
  return
}

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
