import { allowedMethods } from '#core/contract/routes.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '#core/errors.ts'
import { handlerChain } from '#middleware/handler-chain.ts'

/** Every path and method without an operation. Needs no key: there is nothing to protect. */
export const handler = handlerChain({ operation: 'fallback' }).handler(async (event) => {
  const methods = allowedMethods(event.path)
  throw methods.length === 0 ? new RouteNotFoundError() : new MethodNotAllowedError(methods)
})
