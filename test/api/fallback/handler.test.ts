import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { handler } from '#lambdas/api/public/handler.ts'
import { ROUTES } from '#routes/index.ts'
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

  it('404: names the method and path, the end of a base url, and every route', async () => {
    const { error } = JSON.parse((await send('POST', '/chat/completions')).body)
    expect(error).toMatchObject({ type: 'invalid_request_error', param: null, code: 'not_found' })
    expect(error.message).toMatch(
      /^not found: POST \/chat\/completions is not served: did you mean POST \/v1\/chat\/completions\? A base url ends in \/v1, /,
    )
    for (const { method, path } of ROUTES) {
      expect(error.message).toContain(`${method} ${path}`)
    }
  })

  it.each([
    ['POST /v1/embedding', 'POST /v1/embeddings'],
    ['GET /v1/modls/chat-default', 'GET /v1/models/{model}'],
    ['GET /v1/video/generations/id/recipt', 'GET /v1/video/generations/{job_id}/receipt'],
    ['DELETE /v1/video/generation/id', 'DELETE /v1/video/generations/{job_id}'],
    ['POST /v1/videos', 'POST /v1/video/generations'],
    ['POST /v1/videos/generations', 'POST /v1/video/generations'],
    ['GET /v1/videos/generations/id', 'GET /v1/video/generations/{job_id}'],
    ['PUT /V1/Usage', 'GET /v1/usage'],
    ['POST /v1/v1/messages', 'POST /v1/messages'],
    ['GET /v1/models/', 'GET /v1/models'],
  ])('404: %s is told the nearest route, %s', async (typed, route) => {
    const [method = '', path = ''] = typed.split(' ')
    expect((await send(method, path)).body).toContain(`${typed} is not served: did you mean ${route}? A base url`)
  })

  it.each([
    ['404', 'POST', '/v1/messages/batches'],
    ['405', 'GET', '/v1/messages'],
  ])('%s: %s %s has the header that clients of the Anthropic API read', async (status, method, path) => {
    const { statusCode, headers } = await send(method, path)
    expect([String(statusCode), headers?.['request-id']]).toEqual([status, headers?.['x-request-id']])
  })

  it('404: tells the same below /v1/video in details, and cuts a long path', async () => {
    const { error, details } = JSON.parse((await send('GET', `/v1/video/${'x'.repeat(10_000)}`)).body)
    expect(error).toBe('not found')
    expect(details).toMatchObject([{ path: '', message: expect.stringContaining('xxx is not served. A base url') }])
    expect(details[0].message.length).toBeLessThan(2_000)
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
