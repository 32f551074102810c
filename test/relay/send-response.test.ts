import { describe, expect, it } from 'vitest'
import { UpstreamFailedError } from '#core/errors.ts'
import { sendError } from '#lambdas/relay/send-response.ts'
import { setTestLogging } from '../logs/test-logging.ts'
import { FakeResponse } from './fake-response.ts'

setTestLogging()

describe('an error of a relayed request', () => {
  it.each([
    [new UpstreamFailedError(), 502],
    [new TypeError('a fault of ours'), 500],
  ])('after a bill says that SDKs are not to try it again: %s', (error, statusCode) => {
    const headers = [true, false].map((isBilled) => {
      const response = new FakeResponse()
      sendError(response, error, { path: '/v1/completions', requestId: 'request-1', isBilled })
      expect(response.head?.statusCode).toBe(statusCode)
      return response.head?.headers
    })
    expect(headers[0]).toMatchObject({ 'x-should-retry': 'false' })
    expect(headers[1]).not.toHaveProperty('x-should-retry')
  })
})
