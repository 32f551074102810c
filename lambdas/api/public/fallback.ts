import { preflightOf } from '#core/api/cross-origin.ts'
import { headerOf } from '#middleware/api-event.ts'
import { handlerChain } from '#middleware/handler-chain.ts'
import { allowedOrigins } from '#middleware/responses.ts'
import { allowedMethods, SERVED } from '#routes/index.ts'

/** Responds to every path and method without an operation. Needs no key: there is nothing to protect. */
export const fallback = handlerChain({ operation: 'fallback' }).handler(async (event) => {
  const { httpMethod: method, path } = event
  const request = {
    method,
    path,
    methods: allowedMethods(path),
    routes: SERVED,
    origin: headerOf(event, 'origin'),
    requestHeaders: headerOf(event, 'access-control-request-headers'),
  }
  return { statusCode: 204, headers: preflightOf(request, allowedOrigins()), body: '' }
})
