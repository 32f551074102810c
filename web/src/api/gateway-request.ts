import { apiErrorOf } from './api-error.ts'
import { forgetPlaygroundKey, playgroundKey } from './playground-key.ts'
import { send } from './send.ts'

type GatewayRequest = {
  /** Whose money it is; undefined for a session that belongs to a tenant. */
  readonly tenant: string | undefined
  readonly method?: 'GET' | 'POST'
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends one request to the API below `/v1` with the key of the playground, as any client would. A key ends early when the API key that
 * signed in is changed, or when other tabs of the session make keys: a refused key is replaced once.
 * @throws ApiError for every response that is no success, and with status 0 if there is none.
 */
export async function gatewayRequest(path: string, request: GatewayRequest): Promise<Response> {
  const first = await sendOnce(path, request)
  const response = first.status === 401 ? await sendOnce(path, request) : first
  if (response.ok) {
    return response
  }
  throw apiErrorOf(response, await response.json().catch(() => undefined))
}

async function sendOnce(path: string, request: GatewayRequest): Promise<Response> {
  const { tenant, method = 'GET', body, headers, signal } = request
  const key = await playgroundKey(tenant)
  const response = await send(`/v1${path}`, {
    method,
    credentials: 'omit',
    cache: 'no-store',
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (response.status === 401) {
    forgetPlaygroundKey(tenant)
  }
  return response
}
