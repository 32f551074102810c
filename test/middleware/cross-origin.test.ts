import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { jsonResult } from '#middleware/api-event.ts'
import { allowedOrigins } from '#middleware/cross-origin.ts'
import { handlerChain } from '#middleware/handler-chain.ts'
import { apiEvent, captureLog, context } from './api-exchange.ts'

const APP = 'https://app.example.com'

beforeEach(() => {
  captureLog()
})
afterEach(() => {
  vi.restoreAllMocks()
  delete process.env.CORS_ORIGINS
})

async function headersOf(origins: string | undefined, handle: () => Promise<ReturnType<typeof jsonResult>>) {
  Object.assign(process.env, origins === undefined ? {} : { CORS_ORIGINS: origins })
  const handler = handlerChain({ operation: 'get-health' }).handler(handle)
  return (await handler(apiEvent({ headers: { ORIGIN: APP } }), context)).headers
}

const succeed = async () => ({ ...jsonResult(200, '{}'), headers: { vary: 'host' } })
const fail = async () => {
  throw new Error('no')
}

describe('allowedOrigins', () => {
  it.each([
    [undefined, []],
    ['', []],
    [APP, [APP]],
    [`${APP} http://localhost:5173`, [APP, 'http://localhost:5173']],
    ['*', ['*']],
  ])('of %j are %j', (value, origins) => {
    expect(allowedOrigins({ CORS_ORIGINS: value })).toStrictEqual(origins)
  })
})

describe('crossOrigin', () => {
  it.each([
    ['a response', succeed, 'host, Origin'],
    ['an error', fail, 'Origin'],
  ])('lets scripts of an allowed origin read %s and its request id', async (_, handle, vary) => {
    expect(await headersOf(APP, handle)).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-expose-headers': expect.stringContaining('x-request-id'),
      'x-request-id': expect.any(String),
      vary,
    })
  })

  it('keeps scripts of other origins out', async () => {
    expect(await headersOf('https://other.example', succeed)).not.toHaveProperty('access-control-allow-origin')
  })

  it.each([succeed, fail])('adds nothing where no origin is configured', async (handle) => {
    expect(Object.keys((await headersOf(undefined, handle)) ?? {}).join()).not.toMatch(/access-control|Origin/)
  })
})
