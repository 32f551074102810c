import { MethodNotAllowedError, RouteNotFoundError } from '../errors.ts'
import { type AllowedOrigins, allowedOriginOf, preflightHeaders } from './cross-origin.ts'
import { OriginNotAllowedError } from './origin-not-allowed-error.ts'
import { allowedMethods } from './routes.ts'

/** A request for a path or a method without an operation. */
export type OtherRequest = {
  readonly method: string
  readonly path: string
  readonly origin: string | undefined
  /** Its `Access-Control-Request-Headers`. */
  readonly requestHeaders: string | undefined
}

/**
 * The headers of the 204 that tells a browser which requests a script of its origin may send (Fetch standard, "CORS-preflight request").
 * Browsers send no key with this request.
 * @throws OriginNotAllowedError; and RouteNotFoundError or MethodNotAllowedError for every request that is not a preflight.
 */
export function preflightOf(request: OtherRequest, allowed: AllowedOrigins): Record<string, string> {
  const { method, path, origin, requestHeaders } = request
  const methods = allowedMethods(path)
  if (method !== 'OPTIONS' || !path.startsWith('/v1/') || methods.length === 0 || allowed.length === 0) {
    throw methods.length === 0 ? new RouteNotFoundError() : new MethodNotAllowedError(methods)
  }
  if (allowedOriginOf(origin, allowed) === undefined) {
    throw new OriginNotAllowedError()
  }
  return preflightHeaders({ methods, requestHeaders })
}
