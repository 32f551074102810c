import { describe, expect, it } from '@jest/globals'
import {
  allowedOriginOf,
  crossOriginHeaders,
  type OtherRequest,
  preflightHeaders,
  preflightOf,
} from '#core/api/cross-origin.ts'
import { MethodNotAllowedError, OriginNotAllowedError, RouteNotFoundError } from '#core/errors.ts'
import { allowedMethods, SERVED } from '#routes/index.ts'

const APP = 'https://app.example.com'
const allowed = [APP, 'http://localhost:5173']

describe('allowedOriginOf', () => {
  it.each([
    [APP, allowed, APP],
    ['http://localhost:5173', allowed, 'http://localhost:5173'],
    [APP, ['*'], '*'],
    ['null', ['*'], '*'],
    [undefined, ['*'], undefined],
    [undefined, allowed, undefined],
    ['null', allowed, undefined],
    ['https://app.example.com.evil.example', allowed, undefined],
    ['https://app.example.co', allowed, undefined],
    ['http://app.example.com', allowed, undefined],
    ['https://app.example.com:8443', allowed, undefined],
    ['https://APP.example.com', allowed, undefined],
    ['http://localhost', allowed, undefined],
    [`${APP}, http://localhost:5173`, allowed, undefined],
    [APP, [], undefined],
  ])('of %j among %j is %j', (origin, origins, value) => {
    expect(allowedOriginOf(origin, origins)).toBe(value)
  })
})

describe('crossOriginHeaders', () => {
  it('let an allowed origin read the response and the headers that clients need', () => {
    const headers = crossOriginHeaders(APP, { allowed })
    expect(headers).toMatchObject({ 'access-control-allow-origin': APP, vary: 'Origin' })
    expect(headers['access-control-expose-headers']?.split(', ')).toEqual(
      expect.arrayContaining([
        'x-request-id',
        'x-reelgate-cost',
        'x-reelgate-ignored',
        'retry-after',
        'x-should-retry',
        'x-ratelimit-limit-requests',
        'x-ratelimit-remaining-requests',
        'x-ratelimit-reset-requests',
      ]),
    )
  })

  it('never allow credentials, because a key is sent as a header', () => {
    expect(crossOriginHeaders(APP, { allowed })).not.toHaveProperty('access-control-allow-credentials')
  })

  it.each(['https://other.example', undefined])(
    'say nothing to the origin %j, and keep caches from sharing',
    (origin) => {
      expect(crossOriginHeaders(origin, { allowed })).toStrictEqual({ vary: 'Origin' })
    },
  )

  it('keep what the response varies by already', () => {
    expect(crossOriginHeaders(APP, { allowed, vary: 'host' })).toMatchObject({ vary: 'host, Origin' })
  })
})

describe('preflightHeaders', () => {
  const methods = ['GET', 'DELETE']

  it('name the methods of the route and echo the requested headers', () => {
    const requestHeaders = 'authorization,content-type,x-stainless-os'
    expect(preflightHeaders({ methods, requestHeaders })).toStrictEqual({
      'access-control-allow-methods': 'GET, DELETE',
      'access-control-allow-headers': requestHeaders,
      'access-control-max-age': '7200',
      vary: 'Access-Control-Request-Headers',
    })
  })

  it.each([undefined, '', 'a\r\nset-cookie: b', 'ü', 'x'.repeat(2049)])('echo nothing for %j', (requestHeaders) => {
    expect(Object.keys(preflightHeaders({ methods, requestHeaders }))).toStrictEqual([
      'access-control-allow-methods',
      'access-control-max-age',
    ])
  })
})

function preflight(request: Partial<OtherRequest>, allowed: readonly string[] = [APP]) {
  const path = request.path ?? '/v1/models'
  const asked = {
    method: 'OPTIONS',
    path,
    methods: allowedMethods(path),
    routes: SERVED,
    origin: APP,
    requestHeaders: 'authorization',
  }
  return preflightOf({ ...asked, ...request }, allowed)
}

describe('preflightOf', () => {
  it('names the methods of a route and the headers that were asked for', () => {
    expect(preflight({})).toMatchObject({
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'authorization',
    })
  })

  it('refuses an origin that is not allowed', () => {
    expect(() => preflight({ origin: 'https://evil.example' })).toThrow(OriginNotAllowedError)
  })

  it('is for nobody where no origin is allowed', () => {
    expect(() => preflight({}, [])).toThrow(MethodNotAllowedError)
  })

  it('knows the methods of a path that another method was sent to, and paths that do not exist', () => {
    expect(() => preflight({ method: 'PUT' })).toThrow(MethodNotAllowedError)
    expect(() => preflight({ path: '/v1/none' })).toThrow(RouteNotFoundError)
  })
})
