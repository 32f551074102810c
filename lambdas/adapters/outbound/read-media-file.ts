import type { IncomingMessage } from 'node:http'
import { addAbortSignal } from 'node:stream'
import type { FileFacts } from '#core/catalogue/reference-violation.ts'
import type { FileWindow, WantedBytes } from '#core/media/file-window.ts'
import { type MediaFacts, readMediaFacts } from '#core/media/read-media-facts.ts'
import { DownloadError, DownloadRefusedError, DownloadUnavailableError } from './download-errors.ts'
import { type GuardedGet, getGuarded, refuseContentCoding } from './guarded-get.ts'

/** What is asked for first: an image's header, or a video's first boxes and often its movie box. */
const HEAD_BYTES = 65_536

/** Two more places of a file: its movie box behind the media data, or a picture behind large metadata. */
const REQUESTS_MAX = 3

/** Read of an answer that is the whole file, because its server knows no ranges. */
const WHOLE_FILE_BYTES_MAX = 262_144

/** As for any guarded GET; the ranges are chosen here. */
export type MediaFileCommand = Omit<GuardedGet, 'range' | 'namedBy'>

/** What is known of a file, and why not everything is. The reason never holds a path or query. */
export type MediaFile = { readonly facts: FileFacts; readonly unreadBecause?: string }

/** One piece of a file. */
type Piece = { readonly window: FileWindow; readonly isRange: boolean; readonly sizeBytes: number | undefined }

/**
 * Reads what the header of a file tells, by a few ranges and nothing of the rest. The url is a client's and passes the
 * guard, as that of a download does; a redirect into a trusted origin counts only from another one. Whatever cannot be read is missing from the answer; `signal` bounds it all. Never throws
 * for what a network or a file may do.
 */
export async function readMediaFile(command: MediaFileCommand): Promise<MediaFile> {
  const windows: FileWindow[] = []
  let wants: WantedBytes | undefined = { offset: 0, length: HEAD_BYTES }
  let facts: FileFacts = {}
  try {
    for (let requests = 0; wants !== undefined && requests < REQUESTS_MAX; requests += 1) {
      const { window, isRange, sizeBytes = facts.sizeBytes }: Piece = await readPiece(wants, command)
      windows.push(window)
      const reading = readMediaFacts(windows)
      facts = { ...reading.facts, ...(sizeBytes === undefined ? {} : { sizeBytes }) }
      wants = isRange && isNew(reading.wants, wants, sizeBytes) ? reading.wants : undefined
    }
  } catch (error) {
    if (error instanceof DownloadError) {
      return { facts, unreadBecause: error.message }
    }
    throw error
  }
  return isTold(facts) ? { facts } : { facts, unreadBecause: 'its header does not tell' }
}

/** Reads a file that is part of the request itself. */
export function readMediaBytes(bytes: Uint8Array): MediaFile {
  const facts = { ...readMediaFacts([{ offset: 0, bytes }]).facts, sizeBytes: bytes.length }
  return isTold(facts) ? { facts } : { facts, unreadBecause: 'its header does not tell' }
}

/** Everything that a limit may be about; of a format that is not measured, the format. */
function isTold({ format, width, seconds, framesPerSecond }: MediaFacts): boolean {
  switch (format) {
    case undefined:
      return false
    case 'jpeg':
    case 'png':
    case 'webp':
      return width !== undefined
    case 'mp4':
    case 'mov':
      return seconds !== undefined && framesPerSecond !== undefined
    default:
      return true
  }
}

/** Neither behind the end of the file, nor what was just asked for and did not come. */
function isNew(next: WantedBytes | undefined, last: WantedBytes, sizeBytes: number | undefined): boolean {
  return (
    next !== undefined &&
    next.offset < (sizeBytes ?? Number.POSITIVE_INFINITY) &&
    (next.offset !== last.offset || next.length > last.length)
  )
}

/** @throws DownloadError when these bytes cannot be had. */
async function readPiece({ offset, length }: WantedBytes, command: MediaFileCommand): Promise<Piece> {
  const response = await getGuarded({ ...command, namedBy: 'client', range: `bytes=${offset}-${offset + length - 1}` })
  try {
    refuseContentCoding(response.headers)
    const isRange = response.statusCode === 206
    if (!(isRange || (response.statusCode === 200 && offset === 0))) {
      throw new DownloadUnavailableError(`the server said ${response.statusCode}`)
    }
    const sizeBytes = isRange ? rangeSize(response, offset) : wholeNumber(response.headers['content-length'])
    const bytes = await readUpTo(isRange ? length : WHOLE_FILE_BYTES_MAX, response, command.signal)
    return { window: { offset, bytes }, isRange, sizeBytes }
  } finally {
    response.destroy()
  }
}

/** @throws DownloadRefusedError for another range than the one that was asked for. */
function rangeSize({ headers }: IncomingMessage, offset: number): number | undefined {
  const [, start, size] = /^bytes (\d+)-\d+\/(\d+|\*)$/i.exec(headers['content-range'] ?? '') ?? []
  if (wholeNumber(start) !== offset) {
    throw new DownloadRefusedError('the server sent another range')
  }
  return wholeNumber(size)
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

async function readUpTo(
  length: number,
  response: IncomingMessage,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let received = 0
  try {
    for await (const chunk of signal === undefined ? response : addAbortSignal(signal, response)) {
      chunks.push(chunk)
      received += chunk.length
      if (received >= length) {
        break
      }
    }
  } catch (error) {
    throw new DownloadUnavailableError('the bytes did not come', { cause: error })
  }
  return Buffer.concat(chunks).subarray(0, length)
}
