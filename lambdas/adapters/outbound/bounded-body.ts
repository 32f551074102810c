import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import {
  DownloadError,
  DownloadIncompleteError,
  DownloadTooLargeError,
  DownloadTooSlowError,
} from './download-errors.ts'

/** How slow a download may be. Only time spent waiting for the other side counts: a slow reader is not its fault. */
export type PaceLimits = {
  /** The longest wait for the next bytes. */
  readonly idleMilliseconds: number
  /** After this much waiting the average must have reached the floor. */
  readonly windowMilliseconds: number
  readonly bytesPerSecondMin: number
}

/** The pace at which 2 GiB still need more than an hour: below it another try is the better bet. */
export const DOWNLOAD_PACE: PaceLimits = {
  idleMilliseconds: 30_000,
  windowMilliseconds: 60_000,
  bytesPerSecondMin: 500_000,
}

type BodyLimits = {
  readonly contentLength: number | undefined
  readonly maxBytes: number
  readonly pace: PaceLimits
}

/**
 * The bytes of an answer as a stream that fails, with the matching {@link DownloadError}, when there are too many, too few or
 * when they come too slowly. Destroying the stream closes the connection.
 */
export function boundBody(response: IncomingMessage, limits: BodyLimits): Readable {
  const chunks = readBounded(response, limits)
  return new Readable({
    read() {
      chunks.next().then(
        (next) => this.push(next.done === true ? null : next.value),
        (error: Error) => this.destroy(error),
      )
    },
    // Unlike a stream made with Readable.from, this does not wait for the next chunk before it lets go of the connection.
    destroy(error, callback) {
      response.destroy()
      callback(error)
    },
  })
}

async function* readBounded(response: IncomingMessage, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  const { contentLength, maxBytes, pace } = limits
  const watch = new PaceWatch(pace, (error) => response.destroy(error))
  const chunks: AsyncIterable<Uint8Array> = response
  let received = 0
  try {
    watch.beginWait()
    for await (const chunk of chunks) {
      received += chunk.length
      if (received > maxBytes) {
        throw new DownloadTooLargeError(`the file is larger than ${maxBytes} bytes`)
      }
      watch.endWait(chunk.length)
      yield chunk
      watch.beginWait()
    }
  } catch (error) {
    throw error instanceof DownloadError ? error : new DownloadIncompleteError('the connection broke', { cause: error })
  } finally {
    watch.stop()
  }
  if (contentLength !== undefined && received !== contentLength) {
    throw new DownloadIncompleteError(`${received} bytes came, ${contentLength} were announced`)
  }
}

/** Adds up waiting time and bytes, and ends a download that falls behind {@link PaceLimits}. */
class PaceWatch {
  readonly #limits: PaceLimits
  readonly #giveUp: (error: DownloadTooSlowError) => void
  #idleTimer: NodeJS.Timeout | undefined = undefined
  #waitBegan = 0
  #windowMilliseconds = 0
  #windowBytes = 0

  constructor(limits: PaceLimits, giveUp: (error: DownloadTooSlowError) => void) {
    this.#limits = limits
    this.#giveUp = giveUp
  }

  beginWait(): void {
    this.#waitBegan = performance.now()
    const idle = () => this.#giveUp(new DownloadTooSlowError('no bytes came for too long'))
    this.#idleTimer = setTimeout(idle, this.#limits.idleMilliseconds)
  }

  /** @throws DownloadTooSlowError when a window of waiting ends below the floor. */
  endWait(bytes: number): void {
    this.stop()
    this.#windowMilliseconds += performance.now() - this.#waitBegan
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

  stop(): void {
    clearTimeout(this.#idleTimer)
  }
}
