import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type AllowedOrigins,
  allowedOriginOf,
  EXPOSED_VIDEO_HEADERS,
  PREFLIGHT_SECONDS,
} from '#core/api/cross-origin.ts'

/** What S3 names for a bucket with rules, whichever of them apply. */
const VARY = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method'

const METHODS = ['GET', 'HEAD']

/**
 * Applies the rule of the bucket (`lib/aws/video-bucket.ts`) to a request for a video or to its preflight: sets the headers
 * of the response as S3 would.
 * @returns whether the origin and the method are allowed.
 */
export function allowScripts(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  response: Pick<ServerResponse, 'setHeader'>,
  allowed: AllowedOrigins,
): boolean {
  response.setHeader('vary', VARY)
  const origin = allowedOriginOf(headers.origin, allowed)
  const wanted = method === 'OPTIONS' ? headers['access-control-request-method'] : method
  if (origin === undefined || !METHODS.includes(wanted ?? '')) {
    return false
  }
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-allow-methods', METHODS.join(', '))
  response.setHeader('access-control-expose-headers', EXPOSED_VIDEO_HEADERS.join(', '))
  if (method === 'OPTIONS') {
    response.setHeader('access-control-max-age', PREFLIGHT_SECONDS)
    const requested = headers['access-control-request-headers']
    if (requested !== undefined) {
      response.setHeader('access-control-allow-headers', requested)
    }
  }
  return true
}
