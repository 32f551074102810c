import { allowedOriginOf, preflightHeaders } from '#core/contract/cross-origin.ts'
import { OriginNotAllowedError } from '#core/contract/origin-not-allowed-error.ts'
import { allowedMethods } from '#core/contract/routes.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '#core/errors.ts'
import { type ApiEvent, type ApiResult, headerOf } from '#middleware/api-event.ts'
import { allowedOrigins } from '#middleware/cross-origin.ts'
import { handlerChain } from '#middleware/handler-chain.ts'

const allowed = allowedOrigins()

/** Every path and method without an operation. Needs no key: there is nothing to protect. */
export const handler = handlerChain({ operation: 'fallback' }).handler(async (event) => {
  const methods = allowedMethods(event.path)
  if (event.httpMethod === 'OPTIONS' && event.path.startsWith('/v1/') && methods.length > 0 && allowed.length > 0) {
    return preflight(event, methods)
  }
  throw methods.length === 0 ? new RouteNotFoundError() : new MethodNotAllowedError(methods)
})

/**
 * Tells a browser which requests a script of its origin may send (Fetch standard, "CORS-preflight request"). Browsers send no
 * key with this request.
 * @throws OriginNotAllowedError
 */
function preflight(event: ApiEvent, methods: readonly string[]): ApiResult {
  if (allowedOriginOf(headerOf(event, 'origin'), allowed) === undefined) {
    throw new OriginNotAllowedError()
  }
  const requestHeaders = headerOf(event, 'access-control-request-headers')
  return { statusCode: 204, headers: preflightHeaders({ methods, requestHeaders }), body: '' }
}
