import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { DownloadRefusedError, DownloadUnavailableError } from './download-errors.ts'
import { RequestRefusedError, sendGuardedRequest } from './guarded-request.ts'
import type { OutboundNetwork } from './outbound-network.ts'

/** How many redirects a file may go through; each hop passes the whole guard. */
const DOWNLOAD_REDIRECTS_MAX = 3

/** Signed urls have one to two thousand characters. */
const DOWNLOAD_URL_CHARACTERS_MAX = 8_192

const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308]

/** Which file to ask for, whom to trust, and how long to wait for an answer. */
export type GuardedGet = {
  readonly url: string
  /** Origins (`http://127.0.0.1:9400`) that may be private or plain http. */
  readonly trustedOrigins: readonly string[]
  /**
   * Who named the url, and with it the hosts that may redirect. Trust is for what an upstream names; a client's own host must
   * not lead into a trusted origin, so of a client's url trust ends at the first hop that is not trusted.
   */
  readonly namedBy: 'upstream' | 'client'
  /** Of each hop, from its open connection to the head of its answer. */
  readonly answerMilliseconds: number
  /** `bytes=0-65535`, for a part of the file. */
  readonly range?: string
  readonly signal?: AbortSignal
} & Partial<OutboundNetwork>

/**
 * Asks for a file at a url that came from outside: https to public addresses only, unless its origin is trusted, with at most
 * three redirects, and neither credentials nor content coding. The answer is no redirect; its body must be read or destroyed.
 * @throws DownloadRefusedError, DownloadUnavailableError.
 */
export async function getGuarded(command: GuardedGet): Promise<IncomingMessage> {
  let url = parseUrl(command.url)
  let mayTrust = true
  for (let redirects = 0; redirects <= DOWNLOAD_REDIRECTS_MAX; redirects += 1) {
    const isTrustedOrigin: boolean = mayTrust && isTrusted(url, command)
    const response = await get(url, isTrustedOrigin, command)
    if (!REDIRECT_STATUSES.includes(response.statusCode ?? 0)) {
      return response
    }
    response.destroy()
    mayTrust = command.namedBy === 'upstream' || isTrustedOrigin
    url = parseUrl(response.headers.location ?? '', url)
  }
  throw new DownloadRefusedError(`more than ${DOWNLOAD_REDIRECTS_MAX} redirects`)
}

/** @throws DownloadRefusedError for a body that is not the file's own bytes. */
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

async function get(url: URL, isTrustedOrigin: boolean, command: GuardedGet): Promise<IncomingMessage> {
  const { signal, answerMilliseconds, range, resolve, dial } = command
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
      answerMilliseconds,
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
