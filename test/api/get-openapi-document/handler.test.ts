import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { ApiEvent, ApiResult } from '#middleware/api-event.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { apiEvent, captureLog, context } from '../../middleware/api-exchange.ts'

let handler: (event: ApiEvent, of: typeof context) => Promise<ApiResult>

beforeEach(async () => {
  captureLog()
  process.env.LAMBDA_TASK_ROOT = REPOSITORY_ROOT
  // Each test with a process that has read nothing yet.
  jest.resetModules()
  handler = (await import('#lambdas/api/public/handler.ts')).handler
})
afterEach(() => {
  jest.restoreAllMocks()
  delete process.env.LAMBDA_TASK_ROOT
})

const committed = readFileSync(`${REPOSITORY_ROOT}/openapi.json`, 'utf8')

const ask = (headers: Record<string, string> = {}, path = '/openapi.json') => {
  const { requestContext, ...event } = apiEvent({ httpMethod: 'GET', path: '/openapi.json', headers })
  return handler({ ...event, requestContext: { ...requestContext, path } }, context)
}

const LOCAL = { Host: '127.0.0.1:8787' }

describe('the OpenAPI document of a deployment', () => {
  it('get-openapi-document 200: is the committed file byte for byte, without a key, and caches may keep it', async () => {
    const { statusCode, headers, body } = await ask(LOCAL)
    expect(statusCode).toBe(200)
    expect(body === committed).toBe(true)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=300',
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
    })
  })

  it('names the front door to a request through it, and the address of the API to all others', async () => {
    process.env.CONSOLE_ORIGIN = 'https://gateway.example.com'
    const own = { Host: 'abc.execute-api.eu-west-1.amazonaws.com', 'X-Forwarded-Proto': 'https' }
    const [through, direct] = await Promise.all([
      ask({ ...own, 'x-reelgate-front-door': 'a secret' }, '/live/openapi.json'),
      ask(own, '/live/openapi.json'),
    ])
    delete process.env.CONSOLE_ORIGIN
    expect(JSON.parse(through.body).servers).toMatchObject([{ url: 'https://gateway.example.com' }])
    expect(JSON.parse(direct.body).servers).toMatchObject([{ url: `https://${own.Host}/live` }])
  })

  it.each([
    ['a local host', LOCAL, '/openapi.json', 'http://127.0.0.1:8787/v1/models'],
    ['a local host by its IPv6 address', { host: '[::1]:9000' }, '/openapi.json', 'http://[::1]:9000/v1/models'],
    [
      "a stage below API Gateway's own name",
      { Host: 'abc.execute-api.eu-west-1.amazonaws.com', 'X-Forwarded-Proto': 'https' },
      '/live/openapi.json',
      'https://abc.execute-api.eu-west-1.amazonaws.com/live/v1/models',
    ],
    [
      'a name of its own',
      { Host: 'api.example.com', 'X-Forwarded-Proto': 'https' },
      '/openapi.json',
      'https://api.example.com/v1/models',
    ],
  ])('names a server that paths can be appended to: %s', async (_, headers, path, expected) => {
    const { headers: answered, body } = await ask(headers, path)
    const { servers, paths, ...rest } = JSON.parse(body)
    expect(servers).toHaveLength(1)
    // Clients append the path (OpenAPI 3.1); an absolute url is the same for those that resolve it before.
    const [{ url }] = servers
    const model = Object.keys(paths).find((each) => each === '/v1/models')
    expect(`${url}${model}`).toBe(expected)
    const { servers: inFile, ...file } = JSON.parse(committed)
    expect({ paths, ...rest }).toEqual(file)
    expect(inFile).toHaveLength(1)
    expect((await ask(headers, path)).headers?.etag).toBe(answered?.etag)
    expect((await ask({ ...headers, 'if-none-match': String(answered?.etag) }, path)).statusCode).toBe(304)
  })

  it('says that it is another one for another host, also where a cache has it already', async () => {
    const asked = await ask({ Host: 'api.example.com', 'X-Forwarded-Proto': 'https' })
    const forged = await ask({ Host: 'evil.example.net', 'X-Forwarded-Proto': 'https' })
    expect(forged.body).not.toBe(asked.body)
    const again = await ask({ Host: 'api.example.com', 'X-Forwarded-Proto': 'https', 'if-none-match': '*' })
    for (const { headers } of [asked, forged, again]) {
      expect(headers).toMatchObject({ vary: 'host, x-forwarded-proto' })
    }
  })

  it.each([
    ['no host', {}, '/openapi.json'],
    ['a host that is none', { Host: 'a"b/c' }, '/openapi.json'],
    ['a replacement pattern for a host', { Host: "$'" }, '/openapi.json'],
    ['another path', { Host: 'api.example.com' }, '/elsewhere'],
  ])('keeps the server of the file for a request with %s', async (_, headers, path) => {
    expect((await ask(headers, path)).body === committed).toBe(true)
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
