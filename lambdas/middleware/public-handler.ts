import middy from '@middy/core'
import type { ApiEvent, ApiResult } from './api-event.ts'
import { errorResponse } from './error-response.ts'
import { requestLog } from './request-log.ts'

/** The chain of operations without a key (`isPublic` in ROUTES): log and errors. Anyone may call them, so they stay cheap. */
export function publicHandler(operation: string, handle: (event: ApiEvent) => Promise<ApiResult>) {
  return middy<ApiEvent, ApiResult>().use(requestLog(operation)).use(errorResponse()).handler(handle)
}
