import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AllowedOrigins, crossOriginHeaders, preflightOf } from '#core/api/cross-origin.ts'
import { errorResult } from '#middleware/responses.ts'

/** A request of no operation, and what its response needs. */
export type OtherRoute = {
  readonly request: Pick<IncomingMessage, 'method' | 'headers'>
  readonly path: string
  readonly requestId: string
  readonly allowed: AllowedOrigins
}

/** Responds to a path or a method that the relay server does not serve, as the fallback function does. */
export function respondToOtherRoute(response: ServerResponse, { request, path, requestId, allowed }: OtherRoute): void {
  const { origin, 'access-control-request-headers': requestHeaders } = request.headers
  const added = {
    ...(allowed.length > 0 ? crossOriginHeaders(origin, { allowed }) : {}),
    'x-request-id': requestId,
  }
  try {
    const preflight = preflightOf({ method: request.method ?? '', path, origin, requestHeaders }, allowed)
    response.writeHead(204, { ...preflight, ...added }).end()
  } catch (error) {
    const { statusCode, headers, body } = errorResult(error, { path, requestId })
    const length = { 'content-length': Buffer.byteLength(body) }
    response.writeHead(statusCode, { ...headers, ...added, ...length }).end(body)
  }
}
