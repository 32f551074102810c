import type { OutgoingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { allowScripts } from '#local/cdn-front.ts'

const APP = 'https://app.example.com'

function run(method: string, headers: Readonly<Record<string, string>>, allowed = [APP]) {
  const set: OutgoingHttpHeaders = {}
  const response = {
    setHeader(name: string, value: string | number) {
      set[name] = value
      return this
    },
  }
  // The response is used for its headers alone.
  return { isAllowed: allowScripts({ method, headers }, Object(response), allowed), set }
}

describe('allowScripts', () => {
  it.each(['GET', 'HEAD'])('lets an allowed origin read the response to a %s, and its range', (method) => {
    expect(run(method, { origin: APP })).toEqual({
      isAllowed: true,
      set: {
        vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
        'access-control-allow-origin': APP,
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-expose-headers': 'Accept-Ranges, Content-Length, Content-Range, ETag',
      },
    })
  })

  it('allows a preflight for reading, with the headers that it asks for', () => {
    const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'range' }
    expect(run('OPTIONS', { origin: APP, ...asked }, ['*'])).toMatchObject({
      isAllowed: true,
      set: {
        'access-control-allow-origin': '*',
        'access-control-allow-headers': 'range',
        'access-control-max-age': 7200,
      },
    })
  })

  it.each([
    ['GET', {}],
    ['GET', { origin: 'https://other.example' }],
    ['OPTIONS', { origin: APP }],
    ['OPTIONS', { origin: APP, 'access-control-request-method': 'PUT' }],
    ['OPTIONS', { origin: 'https://other.example', 'access-control-request-method': 'GET' }],
  ])('allows no %s with %j', (method, headers) => {
    const { isAllowed, set } = run(method, headers)
    expect([isAllowed, Object.keys(set)]).toEqual([false, ['vary']])
  })
})
