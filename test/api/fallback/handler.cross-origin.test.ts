import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { ROUTES } from '#routes/index.ts'
import { apiEvent, captureLog, context, seen } from '../../middleware/api-exchange.ts'

const APP = 'https://app.example.com'
// Handlers read the origins when they are loaded.
process.env.CORS_ORIGINS = `${APP} http://localhost:5173`
const { handler } = await import('#lambdas/api/public/handler.ts')

beforeEach(() => {
  captureLog()
})
afterEach(() => {
  jest.restoreAllMocks()
})

const PREFLIGHT = {
  Origin: APP,
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'authorization,content-type,x-stainless-lang',
}

const send = (path: string, headers: Record<string, string>, httpMethod = 'OPTIONS') =>
  handler(apiEvent({ httpMethod, path, headers }), context)

const paths = [...new Set(ROUTES.map(({ path }): string => path.replace(/\{\w+\}/, 'some-id')))]

describe('OPTIONS with allowed origins', () => {
  it.each(paths.filter((path) => path.startsWith('/v1/')))(
    '%s: 204 without a key for an allowed origin',
    async (path) => {
      const { statusCode, headers, body } = await send(path, PREFLIGHT)
      expect({ statusCode, headers, body }).toMatchObject({
        statusCode: 204,
        body: '',
        headers: {
          'access-control-allow-origin': APP,
          'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
          'access-control-max-age': '7200',
          vary: 'Access-Control-Request-Headers, Origin',
          'x-request-id': expect.any(String),
        },
      })
      const methods = ROUTES.filter((route) => route.path.replace(/\{\w+\}/, 'some-id') === path)
      expect(headers?.['access-control-allow-methods']).toBe(methods.map(({ method }) => method).join(', '))
    },
  )

  it.each([
    ['of another origin', { ...PREFLIGHT, Origin: 'https://other.example' }],
    ['of no origin', {}],
    ['of the origin null', { ...PREFLIGHT, Origin: 'null' }],
  ])('403: a preflight %s, in the shape of the path', async (_, headers) => {
    const openai = seen(await send('/v1/models', headers))
    expect(openai).toMatchObject({ statusCode: 403, body: { error: { code: 'origin_not_allowed', param: null } } })
    expect(openai.headers).not.toHaveProperty('access-control-allow-origin')
    const video = seen(await send('/v1/video/generations', headers))
    expect(video).toMatchObject({ statusCode: 403, body: { error: expect.stringContaining('origin') } })
  })

  it('204: a request for nothing but the methods of an allowed origin', async () => {
    const { statusCode, headers } = await send('/v1/models', { Origin: APP })
    expect(statusCode).toBe(204)
    expect(headers).not.toHaveProperty('access-control-allow-headers')
  })

  it.each([
    ['/v1/nothing', 404],
    ['/health', 405],
    ['/openapi.json', 405],
  ])('%s: %i as without origins', async (path, status) => {
    const { statusCode, headers } = await send(path, PREFLIGHT)
    expect(statusCode).toBe(status)
    expect(headers).toMatchObject({ 'access-control-allow-origin': APP })
  })

  it('405: other methods, which scripts of an allowed origin can read', async () => {
    const { statusCode, headers } = await send('/v1/models', { Origin: 'http://localhost:5173' }, 'PUT')
    expect(statusCode).toBe(405)
    expect(headers).toMatchObject({ 'access-control-allow-origin': 'http://localhost:5173', allow: 'GET' })
  })
})
