import { describe, expect, it } from '@jest/globals'
import {
  IdempotencyKeyReusedError,
  InsufficientQuotaError,
  InvalidApiKeyError,
  InvalidRequestError,
  MethodNotAllowedError,
  RequestBodyTooLargeError,
  RouteNotFoundError,
  ServiceUnavailableError,
  VideoJobNotFoundError,
} from '#core/errors.ts'

describe('every GatewayError', () => {
  it.each([
    [new InvalidRequestError([]), 400, 'invalid request body'],
    [new InvalidApiKeyError(), 401, 'invalid api key'],
    [new InsufficientQuotaError(), 402, 'insufficient quota for this video generation'],
    [new VideoJobNotFoundError(), 404, 'video job not found'],
    [new RouteNotFoundError(), 404, 'not found'],
    [new MethodNotAllowedError(['GET'], 'PUT'), 405, 'method not allowed'],
    [new IdempotencyKeyReusedError(), 409, 'idempotency key reused with a different body'],
    [new RequestBodyTooLargeError(1024), 413, 'request body too large'],
    [new ServiceUnavailableError(), 503, 'service unavailable'],
  ])('%s has its status and its exact public text', (error, statusCode, message) => {
    expect(error).toMatchObject({ statusCode, message, name: error.constructor.name })
  })

  it('keeps the cause of a 503 for the log', () => {
    const cause = new Error('throttled')
    expect(new ServiceUnavailableError({ cause }).cause).toBe(cause)
  })
})
