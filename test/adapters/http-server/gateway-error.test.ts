import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BAD_ANSWER,
  EXPECTATION_FAILED,
  type GatewayError,
  gatewayErrorBytes,
  INTERNAL_ERROR,
  REQUEST_TOO_LARGE,
  sendGatewayError,
  tooManyRequestsAtOnce,
} from '#adapters/http-server/gateway-error.ts'
import { type HttpServer, listen } from '#adapters/http-server/http-server.ts'

let error: GatewayError = INTERNAL_ERROR
let server: HttpServer
beforeAll(async () => {
  server = await listen((_request, response) => sendGatewayError(response, 'request-1', error), 0)
})
afterAll(() => server.close())

describe('gateway-error', () => {
  it.each([
    [REQUEST_TOO_LARGE, 413, 'invalid_request_error'],
    [tooManyRequestsAtOnce(64), 429, 'rate_limit_error'],
    [INTERNAL_ERROR, 500, 'server_error'],
    [BAD_ANSWER, 502, 'server_error'],
  ])('%j is sent with status %i and type %s, under the id of the request', async (given, status, type) => {
    error = given
    const response = await fetch(`http://127.0.0.1:${server.port}/`)
    expect([response.status, response.headers.get('x-request-id')]).toEqual([status, 'request-1'])
    expect(response.headers.get('connection')).toBe('close')
    expect(await response.json()).toEqual({
      error: { message: given.message, type, param: null, code: given.code },
    })
  })

  it('is written as a whole HTTP response where Node has no request to answer', () => {
    const [head = '', body = ''] = gatewayErrorBytes('request-1', EXPECTATION_FAILED).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 417 Expectation Failed\r\n/)
    expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`)
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'invalid_request_error' } })
  })

  it('can be read by scripts of any origin where browsers may use the API, and only there', async () => {
    const allowed = async () => {
      const { headers } = await fetch(`http://127.0.0.1:${server.port}/`)
      return [
        headers.get('access-control-allow-origin'),
        gatewayErrorBytes('r', BAD_ANSWER).includes('allow-origin: *'),
      ]
    }
    expect(await allowed()).toEqual([null, false])
    process.env.CORS_ORIGINS = 'https://app.example.com'
    try {
      expect(await allowed()).toEqual(['*', true])
    } finally {
      delete process.env.CORS_ORIGINS
    }
  })

  it('says how many requests may wait', () => {
    expect(tooManyRequestsAtOnce(64).message).toContain('at most 64 may')
  })
})
