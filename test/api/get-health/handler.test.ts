import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { handler } from '#lambdas/api/public/handler.ts'
import { apiEvent, captureLog, context } from '../../middleware/api-exchange.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

describe('get-health', () => {
  it('get-health 200: needs no key and nothing behind it, and no cache keeps the response', async () => {
    const log = captureLog()
    const { statusCode, headers, body } = await handler(apiEvent({ httpMethod: 'GET', path: '/health' }), context)
    expect({ statusCode, body: JSON.parse(body) }).toEqual({
      statusCode: 200,
      body: { status: 'ok', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
    })
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-request-id': expect.any(String) })
    expect(log.text()).toContain('"operation":"get-health"')
  })
})
