import { MethodNotAllowedError, OriginNotAllowedError, RouteNotFoundError } from '../errors.ts'
import { notServedMessage } from './paths.ts'

/** Origins whose scripts may read responses: exact ones such as `https://app.example.com`, or `*` for all. Empty if there are none. */
export type AllowedOrigins = readonly string[]

/** Response headers that scripts may read, besides those that browsers always show. */
const EXPOSED_HEADERS = [
  'x-request-id',
  'x-reelgate-cost',
  'x-reelgate-ignored',
  'retry-after',
  'x-should-retry',
  'preference-applied',
  'openai-processing-ms',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
].join(', ')

/** Headers of a stored video that scripts may read: players seek by them. */
export const EXPOSED_VIDEO_HEADERS: readonly string[] = ['Accept-Ranges', 'Content-Length', 'Content-Range', 'ETag']

/** How long a browser may keep the response to a preflight, in seconds. Chromium keeps none for longer. */
export const PREFLIGHT_SECONDS = 7_200

/** Refusals by a platform, which knows no origins: every script may read them. They hold no data of a tenant. */
export const PLATFORM_CROSS_ORIGIN = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'x-request-id, retry-after',
} as const

/**
 * The headers of a response that let a script of an allowed origin read it.
 * @param origin the request's `Origin`.
 * @param vary the `Vary` that the response has already.
 */
export function crossOriginHeaders(
  origin: string | undefined,
  { allowed, vary }: { readonly allowed: AllowedOrigins; readonly vary?: string | undefined },
): Record<string, string> {
  // A cache must not give one origin the response to another, nor the response to a request without an origin.
  const varies = { vary: vary === undefined ? 'Origin' : `${vary}, Origin` }
  const allowedOrigin = allowedOriginOf(origin, allowed)
  return allowedOrigin === undefined
    ? varies
    : { ...varies, 'access-control-allow-origin': allowedOrigin, 'access-control-expose-headers': EXPOSED_HEADERS }
}

/** The value of `Access-Control-Allow-Origin`; undefined for an origin that is not allowed. */
export function allowedOriginOf(origin: string | undefined, allowed: AllowedOrigins): string | undefined {
  if (origin === undefined) {
    return undefined
  }
  return allowed.includes('*') ? '*' : allowed.find((each) => each === origin)
}

type Preflight = {
  readonly methods: readonly string[]
  /** The request's `Access-Control-Request-Headers`. */
  readonly requestHeaders: string | undefined
}

/** Names of headers; longer lists come from no browser. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]{1,2048}$/

/** The headers of the response to a preflight: the methods of the route, and the requested headers. */
export function preflightHeaders({ methods, requestHeaders }: Preflight): Record<string, string> {
  const echoed = requestHeaders !== undefined && HEADER_NAMES.test(requestHeaders) ? requestHeaders : undefined
  return {
    'access-control-allow-methods': methods.join(', '),
    'access-control-max-age': String(PREFLIGHT_SECONDS),
    ...(echoed === undefined ? {} : { 'access-control-allow-headers': echoed, vary: 'Access-Control-Request-Headers' }),
  }
}

/** A request for a path or a method without an operation. */
export type OtherRequest = {
  readonly method: string
  readonly path: string
  /** The methods of its path; empty for an unknown one. */
  readonly methods: readonly string[]
  /** Every route that is served, for a path that is not. */
  readonly routes: readonly string[]
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
  const { method, path, methods, routes, origin, requestHeaders } = request
  if (method !== 'OPTIONS' || !path.startsWith('/v1/') || methods.length === 0 || allowed.length === 0) {
    throw methods.length === 0
      ? new RouteNotFoundError(notServedMessage(method, path, routes))
      : new MethodNotAllowedError(methods, method)
  }
  if (allowedOriginOf(origin, allowed) === undefined) {
    throw new OriginNotAllowedError()
  }
  return preflightHeaders({ methods, requestHeaders })
}
