import type { IncomingMessage } from 'node:http'
import { addAbortSignal, type Readable } from 'node:stream'
import { boundBody, DOWNLOAD_PACE, type PaceLimits } from './bounded-body.ts'
import { DownloadRefusedError, DownloadTooLargeError, DownloadUnavailableError } from './download-errors.ts'
import { RequestRefusedError, sendGuardedRequest } from './guarded-request.ts'
import type { OutboundNetwork } from './outbound-network.ts'

/** How many redirects a result may go through; each hop passes the whole guard. */
const DOWNLOAD_REDIRECTS_MAX = 3

/** Signed result urls have one to two thousand characters. */
const DOWNLOAD_URL_CHARACTERS_MAX = 8_192

export type DownloadCommand = {
  readonly url: string
  /** Origins (`http://127.0.0.1:9400`) that may be private or plain http. */
  readonly trustedOrigins: readonly string[]
  readonly maxBytes: number
  readonly signal?: AbortSignal
  readonly pace?: PaceLimits
} & Partial<OutboundNetwork>

export type OpenDownload = {
  /** Fails with DownloadTooLargeError, DownloadIncompleteError or DownloadTooSlowError; must be read to its end or destroyed. */
  readonly body: Readable
  readonly contentLength: number | undefined
}

const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308]

/**
 * Opens a generated video at its upstream. The url is data from outside: https to public addresses only, unless its origin is
 * trusted, with at most three redirects, and neither credentials nor content coding.
 * @throws DownloadRefusedError, DownloadUnavailableError or DownloadTooLargeError (announced length) before any byte is given.
 */
export async function openDownload(command: DownloadCommand): Promise<OpenDownload> {
  let url = parseUrl(command.url)
  for (let redirects = 0; redirects <= DOWNLOAD_REDIRECTS_MAX; redirects += 1) {
    const response = await get(url, command)
    if (!REDIRECT_STATUSES.includes(response.statusCode ?? 0)) {
      return openBody(response, command)
    }
    response.destroy()
    url = parseUrl(response.headers.location ?? '', url)
  }
  throw new DownloadRefusedError(`more than ${DOWNLOAD_REDIRECTS_MAX} redirects`)
}

function parseUrl(raw: string, base?: URL): URL {
  if (raw === '' || raw.length > DOWNLOAD_URL_CHARACTERS_MAX) {
    throw new DownloadRefusedError('the result url is missing or too long')
  }
  const url = URL.parse(raw, base?.href)
  if (url === null) {
    throw new DownloadRefusedError('the result url is not a url')
  }
  return url
}

async function get(url: URL, command: DownloadCommand): Promise<IncomingMessage> {
  const { trustedOrigins, signal, pace = DOWNLOAD_PACE, resolve, dial } = command
  try {
    return await sendGuardedRequest({
      url,
      method: 'GET',
      headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Reelgate' },
      isTrustedOrigin: trustedOrigins.some((origin) => URL.parse(origin)?.origin === url.origin),
      answerMilliseconds: pace.idleMilliseconds,
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

function openBody(response: IncomingMessage, command: DownloadCommand): OpenDownload {
  try {
    const contentLength = checkHead(response, command.maxBytes)
    const { maxBytes, signal, pace = DOWNLOAD_PACE } = command
    const body = boundBody(response, { contentLength, maxBytes, pace })
    return { body: signal === undefined ? body : addAbortSignal(signal, body), contentLength }
  } catch (error) {
    response.destroy()
    throw error
  }
}

/** The announced length, where there is one. */
function checkHead(response: IncomingMessage, maxBytes: number): number | undefined {
  const { statusCode, headers } = response
  if (statusCode !== 200) {
    throw new DownloadUnavailableError(`the upstream said ${statusCode}`)
  }
  const contentCoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (contentCoding !== '' && contentCoding !== 'identity') {
    throw new DownloadRefusedError('the file is compressed although this was not asked for')
  }
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
