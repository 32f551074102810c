import { divideHalfUp } from '../money/money.ts'

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
