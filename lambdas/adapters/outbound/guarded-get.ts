import type { IncomingHttpHeaders } from 'node:http'
import type { HttpResponse } from '../http/send-once.ts'
import { DownloadRefusedError, DownloadUnavailableError } from './download-errors.ts'
import { RequestRefusedError, sendGuardedRequest } from './guarded-request.ts'
import type { OutboundNetwork } from './outbound-network.ts'

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
