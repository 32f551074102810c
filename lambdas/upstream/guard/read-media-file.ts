import type { FileFacts } from '#core/catalogue/references.ts'
import { type MediaFacts, readMediaFacts } from '#core/media-facts.ts'
import type { FileWindow, WantedBytes } from '#core/mp4.ts'
import type { HttpResponse } from '../../platform/http/send-once.ts'
import {
  DownloadError,
  DownloadRefusedError,
  DownloadUnavailableError,
  type GuardedGet,
  getGuarded,
  refuseContentCoding,
} from './download.ts'

/** The first request: an image's header, or a video's first boxes and often its movie box. */
const HEAD_BYTES = 65_536

/** Two more places in a file: the movie box behind the media data, or a picture behind large metadata. */
const REQUESTS_MAX = 3

/** How much is read of a whole file from a server that ignores ranges. */
const WHOLE_FILE_BYTES_MAX = 262_144

/** As for any guarded GET. The ranges are chosen here. */
export type MediaFileCommand = Omit<GuardedGet, 'range' | 'namedBy'>

/** What is known of a file, and why something is missing. The reason never holds a path or query. */
export type MediaFile = { readonly facts: FileFacts; readonly unreadBecause?: string }

/** One piece of a file. */
type Piece = { readonly window: FileWindow; readonly isRange: boolean; readonly sizeBytes: number | undefined }

/**
 * Reads only the header of a file, with a few range requests. The URL comes from a client and passes the guard, as for
 * a download; only a trusted origin may redirect to a trusted origin. Facts that cannot be read are missing from the result.
 * `signal` bounds all requests together. Never throws for a fault of the network or the file.
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
  return isComplete(facts) ? { facts } : { facts, unreadBecause: 'its header does not tell' }
}

/** Reads a file that is part of the request itself. */
export function readMediaBytes(bytes: Uint8Array): MediaFile {
  const facts = { ...readMediaFacts([{ offset: 0, bytes }]).facts, sizeBytes: bytes.length }
  return isComplete(facts) ? { facts } : { facts, unreadBecause: 'its header does not tell' }
}

/** Whether every fact that a limit may concern is known; for a format that is not measured, the format suffices. */
function isComplete({ format, width, seconds, framesPerSecond }: MediaFacts): boolean {
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

/** Whether the bytes lie inside the file and are not those that were just requested in vain. */
function isNew(next: WantedBytes | undefined, last: WantedBytes, sizeBytes: number | undefined): boolean {
  return (
    next !== undefined &&
    next.offset < (sizeBytes ?? Number.POSITIVE_INFINITY) &&
    (next.offset !== last.offset || next.length > last.length)
  )
}

/** @throws DownloadError when the bytes cannot be read. */
async function readPiece({ offset, length }: WantedBytes, command: MediaFileCommand): Promise<Piece> {
  const response = await getGuarded({ ...command, namedBy: 'client', range: `bytes=${offset}-${offset + length - 1}` })
  try {
    refuseContentCoding(response.headers)
    const isRange = response.status === 206
    if (!(isRange || (response.status === 200 && offset === 0))) {
      throw new DownloadUnavailableError(`the server said ${response.status}`)
    }
    const sizeBytes = isRange ? rangeSize(response, offset) : wholeNumber(response.headers['content-length'])
    const bytes = await readUpTo(isRange ? length : WHOLE_FILE_BYTES_MAX, response.body)
    return { window: { offset, bytes }, isRange, sizeBytes }
  } finally {
    response.body.destroy()
  }
}

/** @throws DownloadRefusedError for another range than the requested one. */
function rangeSize({ headers }: HttpResponse, offset: number): number | undefined {
  const [, start, size] = /^bytes (\d+)-\d+\/(\d+|\*)$/i.exec(headers['content-range'] ?? '') ?? []
  if (wholeNumber(start) !== offset) {
    throw new DownloadRefusedError('the server sent another range')
  }
  return wholeNumber(size)
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

async function readUpTo(length: number, body: HttpResponse['body']): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let received = 0
  try {
    for await (const chunk of body) {
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
