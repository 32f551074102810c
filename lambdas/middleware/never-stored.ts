import type { MiddlewareObj } from '@middy/core'
import type { ApiEvent, ApiResult } from './api-event.ts'

/** Keeps every response, errors included, out of the caches of browsers and of the front door. */
export function neverStored(): MiddlewareObj<ApiEvent, ApiResult> {
  const finish = (request: { response?: ApiResult | null | undefined }) => {
    if (request.response) {
      request.response.headers = { ...request.response.headers, 'cache-control': 'no-store' }
    }
  }
  return { after: finish, onError: finish }
}
