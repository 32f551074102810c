import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ApiEvent, jsonResult } from '#middleware/api-event.ts'
import { handlerChain } from '#middleware/handler-chain.ts'
import { receivedRequest } from '#middleware/received-request.ts'
import { handlingHeaders, handlingOf } from '#middleware/strict-handling.ts'
import { apiEvent, captureLog, context, seen } from './api-exchange.ts'

beforeEach(() => {
  captureLog()
})
afterEach(() => {
  vi.restoreAllMocks()
})

const STRICT = { Prefer: 'handling=strict' }

async function run(members: Partial<ApiEvent>, unknownFields?: (json: unknown) => readonly string[]) {
  const handle = vi.fn(async () => jsonResult(200, '{}'))
  const body = unknownFields === undefined ? {} : { bodyBytesMax: 1000, unknownFields }
  const chain = handlerChain({ operation: 'list-video-jobs', ...body }).handler(handle)
  return { ...seen(await chain(apiEvent(members), context)), isHandled: handle.mock.calls.length > 0 }
}

describe('strictHandling', () => {
  it('names unknown query parameters and fields on the response', async () => {
    const members = { body: '{}', queryStringParameters: { limit: '1', limt: '2' } }
    const { isHandled, headers } = await run(members, () => ['durration'])
    expect({ isHandled, headers }).toMatchObject({
      isHandled: true,
      headers: { 'x-reelgate-ignored': 'durration, limt' },
    })
    expect(headers).not.toHaveProperty('preference-applied')
  })

  it('refuses a strict request before the handler, naming each in the details', async () => {
    const members = { headers: STRICT, body: '{}', queryStringParameters: { limt: '2' } }
    expect(await run(members, () => ['durration'])).toMatchObject({
      isHandled: false,
      statusCode: 400,
      headers: { 'preference-applied': 'handling=strict' },
      body: { error: 'invalid request body', details: [{ path: 'durration' }, { path: 'limt' }] },
    })
  })

  it('names all of them in one message of the OpenAI shape, and the first as its param', async () => {
    const members = { path: '/v1/models', headers: STRICT, queryStringParameters: { b: '', a: '' } }
    const { body } = await run(members)
    expect(body.error).toMatchObject({ param: 'b', message: expect.stringContaining('`b`, `a`') })
  })

  it('serves a strict request without unknown parts, and says that it was strict', async () => {
    const members = { headers: STRICT, queryStringParameters: { limit: '1', after: 'x', offset: '0' } }
    expect(await run(members)).toMatchObject({
      isHandled: true,
      headers: { 'preference-applied': 'handling=strict' },
    })
  })

  it.each([
    ['{"a":1,"b":{"c":1}}', false, 400],
    [Buffer.from(' {"a":1}').toString('base64'), true, 400],
    ['{"a\\q":1}', false, 400],
    ['{}', false, 200],
    ['not JSON', false, 200],
    ['{', false, 200],
    [null, false, 200],
  ])('finds the fields of a strict body %j that no operation reads', async (body, isBase64Encoded, statusCode) => {
    expect(await run({ headers: STRICT, body, isBase64Encoded })).toMatchObject({ statusCode })
    expect(await run({ body, isBase64Encoded })).toMatchObject({ statusCode: 200 })
  })

  it('leaves paths without an operation alone', async () => {
    const chain = handlerChain({ operation: 'fallback' }).handler(async () => jsonResult(404, '{}'))
    const event = apiEvent({ headers: STRICT, queryStringParameters: { a: '1' } })
    const { statusCode, headers } = seen(await chain(event, context))
    expect(statusCode).toBe(404)
    expect(headers).not.toHaveProperty('x-reelgate-ignored')
  })
})

describe('handlingOf', () => {
  it('reads every line of the header, whatever the case of its name', () => {
    const multiValueHeaders = { pReFeR: ['respond-async', 'handling=strict'] }
    const event = apiEvent({ headers: { pReFeR: 'handling=strict' }, multiValueHeaders })
    expect(handlingOf(receivedRequest(event), 'get-model').isStrict).toBe(true)
  })
})

describe('handlingHeaders', () => {
  it('are none before the request is read', () => {
    expect(handlingHeaders(undefined)).toStrictEqual({})
  })

  it('name a field and a query parameter of one name once', () => {
    const ignored = { query: ['a'], fields: ['a', 'b'] }
    expect(handlingHeaders({ isStrict: false, ignored })).toStrictEqual({ 'x-reelgate-ignored': 'a, b' })
  })
})
