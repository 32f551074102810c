import { describe, expect, it } from 'vitest'
import { OriginNotAllowedError } from '#core/contract/origin-not-allowed-error.ts'
import { type OtherRequest, preflightOf } from '#core/contract/other-routes.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '#core/errors.ts'

const APP = 'https://app.example.com'

function preflight(request: Partial<OtherRequest>, allowed: readonly string[] = [APP]) {
  const asked = { method: 'OPTIONS', path: '/v1/models', origin: APP, requestHeaders: 'authorization', ...request }
  return preflightOf(asked, allowed)
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
