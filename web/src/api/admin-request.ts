import { ApiError, apiErrorOf } from './api-error.ts'
import { pageSecret } from './page-secret.ts'
import { send } from './send.ts'

/** Parameters of a url; those without a value are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>

type AdminRequest = {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly query?: Query
  readonly body?: object
  readonly signal?: AbortSignal
}

/** Called when the gateway says that there is no session. */
let onSignedOut = () => {}

/** Sets what happens when a session has ended. */
export function whenSignedOut(callback: () => void): void {
  onSignedOut = callback
}

/**
 * Sends one request to the admin API and returns the body of its response; undefined for a 204.
 * @param path below `/admin/v1`, its ids already encoded.
 * @throws ApiError for every response that is no success, and with status 0 if there is none.
 */
export async function adminRequest(path: string, request: AdminRequest = {}): Promise<unknown> {
  const { method = 'GET', query = {}, body, signal } = request
  const secret = pageSecret()
  const response = await send(adminUrl(path, query), {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    headers: {
      accept: 'application/json',
      'x-reelgate-console': '1',
      ...(secret === null ? {} : { 'x-reelgate-page': secret }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (response.ok) {
    return response.status === 204 ? undefined : await contentOf(response, signal)
  }
  if (response.status === 401 && path !== '/session') {
    onSignedOut()
  }
  throw apiErrorOf(response, await response.json().catch(() => undefined))
}

/** @throws ApiError for a body that ends early, because half of a page must not look like an empty one. */
async function contentOf(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await response.json()
  } catch (error) {
    signal?.throwIfAborted()
    throw new ApiError('the response of the gateway ended early', { status: 0, cause: error })
  }
}

/** The url of an admin request; empty parameters are left out. */
function adminUrl(path: string, query: Query = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  )
  return `/admin/v1${path}${entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`}`
}
