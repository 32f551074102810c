import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { REPOSITORY_ROOT } from '#aws/function-sources.ts'
import type { ApiEvent, ApiResult } from '#middleware/api-event.ts'
import { apiEvent, captureLog, context } from '../middleware/api-exchange.ts'

let handler: (event: ApiEvent, of: typeof context) => Promise<ApiResult>

beforeEach(async () => {
  captureLog()
  process.env.LAMBDA_TASK_ROOT = REPOSITORY_ROOT
  // Each test with a process that has read nothing yet.
  jest.resetModules()
  handler = (await import('#lambdas/api/get-openapi-document/handler.ts')).handler
})
afterEach(() => {
  jest.restoreAllMocks()
  delete process.env.LAMBDA_TASK_ROOT
})

const ask = (headers: Record<string, string> = {}) =>
  handler(apiEvent({ httpMethod: 'GET', path: '/openapi.json', headers }), context)

describe('the OpenAPI document of a deployment', () => {
  it('get-openapi-document 200: is the committed file byte for byte, without a key, and caches may keep it', async () => {
    const { statusCode, headers, body } = await ask()
    expect(statusCode).toBe(200)
    expect(body === readFileSync(`${REPOSITORY_ROOT}/openapi.json`, 'utf8')).toBe(true)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=300',
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
    })
  })

  it.each([
    ['as it was given', (etag: string) => etag],
    ['weakened by a cache', (etag: string) => `W/${etag}`],
    ['among others', (etag: string) => `"other", ${etag}`],
    ['as any', () => '*'],
  ])('get-openapi-document 304: a reader who has it already, its tag %s, gets no body', async (_, shown) => {
    const etag = String((await ask()).headers?.etag)
    const { statusCode, headers, body } = await ask({ 'If-None-Match': shown(etag) })
    expect({ statusCode, body }).toEqual({ statusCode: 304, body: '' })
    expect(headers).toMatchObject({ etag, 'cache-control': 'public, max-age=300' })
  })

  it('gives the whole of it to a reader of another version', async () => {
    expect((await ask({ 'if-none-match': '"0123456789abcdef0123456789abcdef"' })).statusCode).toBe(200)
  })

  it('get-openapi-document 500: a deployment without the file shows nothing of itself', async () => {
    process.env.LAMBDA_TASK_ROOT = '/nowhere'
    const { statusCode, body } = await ask()
    expect(statusCode).toBe(500)
    expect(JSON.parse(body)).toEqual({
      error: { message: 'internal error', type: 'server_error', param: null, code: null },
    })
  })
})
