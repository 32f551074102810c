import { describe, expect, it } from '@jest/globals'
import { UpstreamFailedError } from '#core/errors.ts'
import { answerError } from '#lambdas/relay/answer-error.ts'
import { FakeAnswer } from '../api/fake-answer.ts'
import { setTestLogging } from '../logs/test-logging.ts'

setTestLogging()

describe('an error of a relayed request', () => {
  it.each([
    [new UpstreamFailedError(), 502],
    [new TypeError('a fault of ours'), 500],
  ])('after a bill says that SDKs are not to try it again: %s', (error, statusCode) => {
    const headers = [true, false].map((isBilled) => {
      const writer = new FakeAnswer()
      answerError(error, { path: '/v1/completions', requestId: 'request-1', writer, isBilled })
      expect(writer.head?.statusCode).toBe(statusCode)
      return writer.head?.headers
    })
    expect(headers[0]).toMatchObject({ 'x-should-retry': 'false' })
    expect(headers[1]).not.toHaveProperty('x-should-retry')
  })
})
