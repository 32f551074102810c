import { describe, expect, it } from 'vitest'
import { UpstreamFailedError } from '#core/errors.ts'
import { sendError, sendWhole } from '#lambdas/relay/send-response.ts'
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

describe('a body of an upstream', () => {
  const sent = (contentType: string | undefined, body: Buffer) => {
    const response = new FakeResponse()
    sendWhole(response, { statusCode: 422, contentType, body })
    return [response.head?.headers['content-type'], response.text, response.head?.headers['content-length']]
  }

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/Problem+JSON', 'text/event-stream'])(
    'keeps the type %s',
    (type) => {
      expect(sent(type, Buffer.from('{}'))).toEqual([type, '{}', '2'])
    },
  )

  it.each(['text/html', 'text/html; charset=nonsense', 'image/svg+xml', 'text/javascript', 'application/jsonp', ''])(
    'of type %j goes out as plain text',
    (type) => {
      const body = '<script>alert("é")</script>'
      expect(sent(type, Buffer.from(body))).toEqual(['text/plain; charset=utf-8', body, '28'])
    },
  )

  it('in another charset is turned into UTF-8', () => {
    const latin = Buffer.from('déjà', 'latin1')
    expect(sent('text/html; charset="ISO-8859-1"', latin)).toEqual(['text/plain; charset=utf-8', 'déjà', '6'])
  })
})
