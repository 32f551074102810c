import { RequestFailedError, RequestRefusedError, sendGuardedRequest } from './guarded-request.ts'
import type { OutboundNetwork } from './outbound-network.ts'

/** Discovery documents and key sets are some kilobytes. */
const BODY_BYTES_MAX = 1024 * 1024

/** Three requests one after the other fit into the time of a function of the API. */
const REQUEST_MILLISECONDS = 8_000

/** What a library hands to its fetch. */
type FetchOptions = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/**
 * A fetch for libraries, through the guard: one bounded response, no redirect followed.
 * @param trustedOrigin the origin that the operator named, which may be private or plain http.
 * @throws RequestRefusedError, RequestFailedError from the fetch.
 */
export function guardedFetch(trustedOrigin: string, network: Partial<OutboundNetwork> = {}) {
  return async (target: string, { method = 'GET', headers = {}, body }: FetchOptions = {}): Promise<Response> => {
    const url = new URL(target)
    const response = await sendGuardedRequest({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: { ...headers, 'accept-encoding': 'identity' },
      body: bodyOf(body),
      isTrustedOrigin: url.origin === trustedOrigin,
      replyMilliseconds: REQUEST_MILLISECONDS,
      signal: AbortSignal.timeout(REQUEST_MILLISECONDS),
      ...network,
    })
    const bytes = await readBounded(response.body)
    const type = response.headers['content-type']
    return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), {
      status: response.status,
      headers: type === undefined ? {} : { 'content-type': type },
    })
  }
}

/** @throws RequestRefusedError for a body that is no form. */
function bodyOf(body: unknown): string | undefined {
  if (body === undefined || body === null) {
    return undefined
  }
  if (typeof body === 'string' || body instanceof URLSearchParams) {
    return String(body)
  }
  throw new RequestRefusedError('the body of the request must be a form')
}

async function readBounded(body: Awaited<ReturnType<typeof sendGuardedRequest>>['body']): Promise<Buffer> {
  const chunks: Buffer[] = []
  let received = 0
  try {
    for (let { value } = await body.next(); value !== undefined; { value } = await body.next()) {
      received += value.length
      if (received > BODY_BYTES_MAX) {
        throw new RequestFailedError('the response is too large')
      }
      chunks.push(value)
    }
  } catch (error) {
    body.destroy()
    throw error instanceof RequestFailedError ? error : new RequestFailedError('the response broke', { cause: error })
  }
  return Buffer.concat(chunks)
}
