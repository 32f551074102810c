import type { IncomingHttpHeaders } from 'node:http'
import { addAbortSignal, Readable } from 'node:stream'
import { ResponseBrokenError } from '../../platform/http/response-body.ts'
import type { HttpResponse } from '../../platform/http/send-once.ts'
import { RequestRefusedError, sendGuardedRequest } from './guarded-request.ts'
import type { OutboundNetwork } from './outbound-network.ts'

/** Why a file could not be downloaded. Messages never hold the path or query of a URL, because results have signed URLs. */
export abstract class DownloadError extends Error {
  /** Whether a later try may succeed. */
  abstract readonly isRetryable: boolean
}

/** The guard refuses the URL, a redirect, or the form of the response. */
export class DownloadRefusedError extends DownloadError {
  override readonly name = 'DownloadRefusedError'
  readonly isRetryable = false
}

/** No connection, no response in time, or another status than 200. */
export class DownloadUnavailableError extends DownloadError {
  override readonly name = 'DownloadUnavailableError'
  readonly isRetryable = true
}

/** More bytes than the limit, announced or counted. */
export class DownloadTooLargeError extends DownloadError {
  override readonly name = 'DownloadTooLargeError'
  readonly isRetryable = false
}

/** The body ended before its announced length, or the connection broke. */
export class DownloadIncompleteError extends DownloadError {
  override readonly name = 'DownloadIncompleteError'
  readonly isRetryable = true
}

/** No bytes arrived for too long, or too few over a longer time. */
export class DownloadTooSlowError extends DownloadError {
  override readonly name = 'DownloadTooSlowError'
  readonly isRetryable = true
}

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

/** Each hop of a redirect passes the whole guard. */
const DOWNLOAD_REDIRECTS_MAX = 3

/** Signed URLs have one to two thousand characters. */
const DOWNLOAD_URL_CHARACTERS_MAX = 8_192

const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308]

/** Which file to request, which origins to trust, and how long to wait. */
export type GuardedGet = {
  readonly url: string
  /** Origins (`http://127.0.0.1:9400`) that may be private or plain http. */
  readonly trustedOrigins: readonly string[]
  /**
   * Who named the URL, and so the hosts that may redirect. An upstream may redirect into a trusted origin. A client's host must
   * not, so the trust in a client's URL ends at the first hop that is not trusted.
   */
  readonly namedBy: 'upstream' | 'client'
  /** For each hop, from its open connection to the head of its response, and the longest pause after that. */
  readonly replyMilliseconds: number
  /** `bytes=0-65535`, for a part of the file. */
  readonly range?: string
  readonly signal?: AbortSignal
} & Partial<OutboundNetwork>

/**
 * Requests a file at a URL that came from outside: https to public addresses only, unless its origin is trusted, with at most
 * three redirects, and without credentials or content coding. The response is never a redirect, and the caller reads its body to
 * the end or destroys it.
 * @throws DownloadRefusedError, DownloadUnavailableError.
 */
export async function getGuarded(command: GuardedGet): Promise<HttpResponse> {
  let url = parseUrl(command.url)
  let mayTrust = true
  for (let redirects = 0; redirects <= DOWNLOAD_REDIRECTS_MAX; redirects += 1) {
    const isTrustedOrigin: boolean = mayTrust && isTrusted(url, command)
    const response = await get(url, isTrustedOrigin, command)
    if (!REDIRECT_STATUSES.includes(response.status)) {
      return response
    }
    response.body.destroy()
    mayTrust = command.namedBy === 'upstream' || isTrustedOrigin
    url = parseUrl(response.headers.location ?? '', url)
  }
  throw new DownloadRefusedError(`more than ${DOWNLOAD_REDIRECTS_MAX} redirects`)
}

/** @throws DownloadRefusedError for a compressed body, whose bytes are not those of the file. */
export function refuseContentCoding(headers: IncomingHttpHeaders): void {
  const contentCoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (contentCoding !== '' && contentCoding !== 'identity') {
    throw new DownloadRefusedError('the file is compressed although this was not asked for')
  }
}

function parseUrl(raw: string, base?: URL): URL {
  if (raw === '' || raw.length > DOWNLOAD_URL_CHARACTERS_MAX) {
    throw new DownloadRefusedError('the url of the file is missing or too long')
  }
  const url = URL.parse(raw, base?.href)
  if (url === null) {
    throw new DownloadRefusedError('the url of the file is not a url')
  }
  return url
}

function isTrusted(url: URL, { trustedOrigins }: GuardedGet): boolean {
  return trustedOrigins.some((origin) => URL.parse(origin)?.origin === url.origin)
}

async function get(url: URL, isTrustedOrigin: boolean, command: GuardedGet): Promise<HttpResponse> {
  const { signal, replyMilliseconds, range, resolve, dial } = command
  try {
    return await sendGuardedRequest({
      url,
      method: 'GET',
      headers: {
        accept: '*/*',
        'accept-encoding': 'identity',
        'user-agent': 'Reelgate',
        ...(range === undefined ? {} : { range }),
      },
      isTrustedOrigin,
      replyMilliseconds,
      signal,
      ...(resolve === undefined ? {} : { resolve }),
      ...(dial === undefined ? {} : { dial }),
    })
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'the request failed'
    throw error instanceof RequestRefusedError
      ? new DownloadRefusedError(reason, { cause: error })
      : new DownloadUnavailableError(reason, { cause: error })
  }
}

/** Which file to download, its limits, and the signal that ends the download. */
export type DownloadCommand = {
  readonly url: string
  /** Origins (`http://127.0.0.1:9400`) that may be private or plain http. */
  readonly trustedOrigins: readonly string[]
  readonly maxBytes: number
  readonly signal?: AbortSignal
  readonly pace?: PaceLimits
} & Partial<OutboundNetwork>

/** A download whose head has arrived: its body, and the announced length in bytes, if any. */
export type OpenDownload = {
  /** Fails with DownloadTooLargeError, DownloadIncompleteError or DownloadTooSlowError. Read it to its end or destroy it. */
  readonly body: Readable
  readonly contentLength: number | undefined
}

/**
 * Opens a generated video at its upstream, as {@link getGuarded} does: the URL came from outside.
 * @throws DownloadRefusedError, DownloadUnavailableError or DownloadTooLargeError (by the announced length).
 */
export async function openDownload(command: DownloadCommand): Promise<OpenDownload> {
  const { pace = DOWNLOAD_PACE } = command
  return openBody(
    await getGuarded({ ...command, namedBy: 'upstream', replyMilliseconds: pace.idleMilliseconds }),
    command,
  )
}

function openBody(response: HttpResponse, command: DownloadCommand): OpenDownload {
  try {
    const contentLength = checkHead(response, command.maxBytes)
    const { maxBytes, signal, pace = DOWNLOAD_PACE } = command
    const body = boundBody(response.body, { maxBytes, pace })
    return { body: signal === undefined ? body : addAbortSignal(signal, body), contentLength }
  } catch (error) {
    response.body.destroy()
    throw error
  }
}

/** The announced length, if any. */
function checkHead({ status, headers }: HttpResponse, maxBytes: number): number | undefined {
  if (status !== 200) {
    throw new DownloadUnavailableError(`the upstream said ${status}`)
  }
  refuseContentCoding(headers)
  const announced = headers['content-length']
  if (announced === undefined) {
    return undefined
  }
  const contentLength = Number(announced)
  if (contentLength > maxBytes) {
    throw new DownloadTooLargeError(`the file is larger than ${maxBytes} bytes`)
  }
  return contentLength
}
