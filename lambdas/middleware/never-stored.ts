import type { MiddlewareObj } from '@middy/core'
import type { ApiEvent, ApiResult } from './api-event.ts'

/** Keeps every response, errors included, out of the caches of browsers and of the front door, and from being read as another type. */
export function neverStored(): MiddlewareObj<ApiEvent, ApiResult> {
  const finish = (request: { response?: ApiResult | null | undefined }) => {
    if (request.response) {
      request.response.headers = {
        ...request.response.headers,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      }
    }
  }
  return { after: finish, onError: finish }
}
