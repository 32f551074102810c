import { preflightOf } from '#core/api/cross-origin.ts'
import { headerOf } from '#middleware/api-event.ts'
import { handlerChain } from '#middleware/handler-chain.ts'
import { allowedOrigins } from '#middleware/responses.ts'

const allowed = allowedOrigins()

/** Every path and method without an operation. Needs no key: there is nothing to protect. */
export const handler = handlerChain({ operation: 'fallback' }).handler(async (event) => {
  const { httpMethod: method, path } = event
  const request = {
    method,
    path,
    origin: headerOf(event, 'origin'),
    requestHeaders: headerOf(event, 'access-control-request-headers'),
  }
  return { statusCode: 204, headers: preflightOf(request, allowed), body: '' }
})
