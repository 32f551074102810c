import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { handler } from '#lambdas/api/public/handler.ts'
import { apiEvent, captureLog, context } from '../../middleware/api-exchange.ts'

beforeEach(() => {
  captureLog()
})
afterEach(() => {
  jest.restoreAllMocks()
})

const send = (httpMethod: string, path: string) => handler(apiEvent({ httpMethod, path }), context)

describe('fallback', () => {
  it.each(['/v1/nothing', '/', '/v1/video/generations/id/more'])('404: no operation has the path %s', async (path) => {
    const { statusCode, headers } = await send('GET', path)
    expect(statusCode).toBe(404)
    expect(headers).not.toHaveProperty('allow')
  })

  it.each([
    ['PUT', '/v1/video/generations', 'GET, POST'],
    ['DELETE', '/v1/models', 'GET'],
    // Without configured origins there is no preflight.
    ['OPTIONS', '/v1/models', 'GET'],
  ])('405: %s of %s names the methods that are allowed', async (method, path, allow) => {
    const { statusCode, headers } = await send(method, path)
    expect(statusCode).toBe(405)
    expect(String(headers?.allow).split(', ').toSorted().join(', ')).toBe(allow)
  })

  it('needs no key', async () => {
    expect((await send('GET', '/v1/nothing')).headers).toHaveProperty('x-request-id')
  })
})
