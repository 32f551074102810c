import middy from '@middy/core'
import { allowedMethods } from '#core/contract/routes.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '#core/errors.ts'
import type { ApiEvent, ApiResult } from '#middleware/api-event.ts'
import { errorResponse } from '#middleware/error-response.ts'
import { requestLog } from '#middleware/request-log.ts'

/** Every path and method that has no operation. Needs no key: there is nothing here to protect. */
export const handler = middy<ApiEvent, ApiResult>()
  .use(requestLog('fallback'))
  .use(errorResponse())
  .handler(async (event) => {
    const methods = allowedMethods(event.path)
    throw methods.length === 0 ? new RouteNotFoundError() : new MethodNotAllowedError(methods)
  })
