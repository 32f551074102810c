import { Readable } from 'node:stream'
import { ResponseBrokenError } from '../http/response-broken-error.ts'
import type { HttpResponse } from '../http/send-once.ts'
import {
  DownloadError,
  DownloadIncompleteError,
  DownloadTooLargeError,
  DownloadTooSlowError,
} from './download-errors.ts'

/** How slow a download may be. Only the time spent waiting for the server counts: a slow reader is not its fault. */
export type PaceLimits = {
  /** The longest wait for the next bytes. */
  readonly idleMilliseconds: number
  /** After this much waiting, the average must have reached the minimum. */
  readonly windowMilliseconds: number
  readonly bytesPerSecondMin: number
}

/** At this pace 2 GiB still take more than an hour; below it another try is the better choice. */
export const DOWNLOAD_PACE: PaceLimits = {
  idleMilliseconds: 30_000,
  windowMilliseconds: 60_000,
  bytesPerSecondMin: 500_000,
}

type BodyLimits = { readonly maxBytes: number; readonly pace: Omit<PaceLimits, 'idleMilliseconds'> }

/**
 * The bytes of a response as a stream that fails with the matching {@link DownloadError} when there are too many or too few, or
 * when they arrive too slowly. Destroying the stream closes the connection. The longest wait is the body's own limit.
 */
export function boundBody(body: HttpResponse['body'], limits: BodyLimits): Readable {
  const pace = new Pace(limits.pace)
  let received = 0
  const readChunk = async (): Promise<Buffer | null> => {
    const waitBegan = performance.now()
    const { value: chunk } = await body.next()
    if (chunk === undefined) {
      return null
    }
    received += chunk.length
    if (received > limits.maxBytes) {
      throw new DownloadTooLargeError(`the file is larger than ${limits.maxBytes} bytes`)
    }
    pace.add(chunk.length, performance.now() - waitBegan)
    return chunk
  }
  return new Readable({
    read() {
      readChunk().then(
        (chunk) => this.push(chunk),
        (error: unknown) => this.destroy(downloadErrorOf(error)),
      )
    },
    // A stream of Readable.from would wait for the next chunk before it closes the connection.
    destroy(error, callback) {
      body.destroy()
      callback(error)
    },
  })
}

function downloadErrorOf(error: unknown): DownloadError {
  if (error instanceof DownloadError) {
    return error
  }
  return error instanceof ResponseBrokenError && error.reason === 'idle timeout'
    ? new DownloadTooSlowError('no bytes came for too long')
    : new DownloadIncompleteError('the connection broke', { cause: error })
}

/** Adds up waiting time and bytes, window by window. */
class Pace {
  readonly #limits: BodyLimits['pace']
  #windowMilliseconds = 0
  #windowBytes = 0

  constructor(limits: BodyLimits['pace']) {
    this.#limits = limits
  }

  /** @throws DownloadTooSlowError when a window of waiting ends below the minimum. */
  add(bytes: number, waitedMilliseconds: number): void {
    this.#windowMilliseconds += waitedMilliseconds
    this.#windowBytes += bytes
    if (this.#windowMilliseconds < this.#limits.windowMilliseconds) {
      return
    }
    if (this.#windowBytes * 1000 < this.#limits.bytesPerSecondMin * this.#windowMilliseconds) {
      throw new DownloadTooSlowError('the bytes came too slowly')
    }
    this.#windowMilliseconds = 0
    this.#windowBytes = 0
  }
}
