import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import middy from '@middy/core'
import { HttpError, InvalidRequestError, RequestBodyTooLargeError } from '#core/errors.ts'
import { type ApiEvent, jsonResult, receivedRequest } from '#middleware/api-event.ts'
import { handlerChain } from '#middleware/handler-chain.ts'
import { handlingHeaders, handlingOf, jsonBody } from '#middleware/request-input.ts'
import { listVideoJobs } from '#routes/video-jobs.ts'
import { apiEvent, captureLog, context, seen } from './api-exchange.ts'

const BYTES_MAX = 2_000_000

/** What the handler gets as `event.json`. */
async function parsed(members: Partial<ApiEvent>): Promise<unknown> {
  let json: unknown
  const handler = middy<ApiEvent, void>()
    .use(jsonBody({ bytesMax: BYTES_MAX }))
    .handler(async (event) => {
      json = event.json
    })
  await handler(apiEvent(members), context)
  return json
}

async function refusal(members: Partial<ApiEvent>): Promise<HttpError> {
  try {
    await parsed(members)
  } catch (error) {
    if (error instanceof HttpError) {
      return error
    }
    throw error
  }
  throw new Error('the body was not refused')
}

const base64 = (bytes: Buffer | string) => ({ body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true })

async function expectMessage(members: Partial<ApiEvent>, message: unknown) {
  const error = await refusal(members)
  expect(error).toBeInstanceOf(InvalidRequestError)
  expect(error).toMatchObject({ issues: [{ path: '', message }] })
}

describe('jsonBody', () => {
  it.each([
    ['{"a":[1,"ü","😀"]}', { a: [1, 'ü', '😀'] }],
    [' [] ', []],
    ['null', null],
    ['"\\ud800"', '\ud800'],
    ['1e400', Number.POSITIVE_INFINITY],
    ['\ufeff{"a":1}', { a: 1 }],
  ])('parses %j, as text and as base64', async (text, value) => {
    expect(await parsed({ body: text })).toStrictEqual(value)
    expect(await parsed(base64(text))).toStrictEqual(value)
  })

  it('reads the names of a body as they are, whatever another client sent before', async () => {
    await parsed({ body: '{"model":"m","\\\\":1}' })
    expect(await parsed({ body: '{"model":"m","\\u006e":8}' })).toStrictEqual({ model: 'm', n: 8 })
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', ''])(
    'does not mind the content type %j',
    async (type) => {
      expect(await parsed({ body: '{}', headers: { 'content-type': type } })).toStrictEqual({})
    },
  )

  it('keeps a field called __proto__ a field', async () => {
    const json = await parsed({ body: '{"__proto__":{"admin":true}}' })
    expect(Object.keys(Object(json))).toStrictEqual(['__proto__'])
    expect(Object(json).admin).toBeUndefined()
  })

  it.each([null, ''])('refuses the empty body %j', async (body) => {
    await expectMessage({ body }, 'the body must not be empty: send a JSON object')
    await expectMessage({ body, isBase64Encoded: true }, 'the body must not be empty: send a JSON object')
  })

  it.each(['{', '{"a":1,}', "{'a':1}", '{"a":1}{', 'undefined', '\u0000', '{"a":\n', 'NaN', '-', '\ufeff'])(
    'refuses %j, which is not JSON, and says where',
    async (body) => {
      const place = /^the body must be valid JSON: it (is wrong|ends too early,) at line \d, column \d$/
      await expectMessage({ body }, expect.stringMatching(place))
    },
  )

  it('does not repeat the body in its words', async () => {
    const error = await refusal({ body: '{"prompt": secret words' })
    expect(JSON.stringify(error) + error.message + String(error.cause)).not.toContain('secret')
  })

  it.each([
    ['a cut character', Buffer.from([0x22, 0xe7, 0xba, 0x22])],
    ['a surrogate half', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['an overlong form', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['Latin-1', Buffer.from('"ü"', 'latin1')],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
  ])('refuses bytes that are not UTF-8: %s', async (_, bytes) => {
    await expectMessage(base64(bytes), 'the body must be valid UTF-8')
  })

  it('refuses a bomb of brackets before it parses anything', async () => {
    await expectMessage({ body: '['.repeat(1_000_000) }, 'the body must nest at most 32 levels deep')
    await expectMessage({ body: '{"a":'.repeat(33) }, 'the body must nest at most 32 levels deep')
    expect(await parsed({ body: '['.repeat(32) + ']'.repeat(32) })).toBeDefined()
  })

  it('refuses a body of more elements than can be parsed in a moment, whatever they are', async () => {
    const message = 'the body must hold at most 100000 strings, objects and arrays: send smaller requests'
    const fields = (count: number) => Array.from({ length: count }, (_, index) => `"${index.toString(36)}":1`).join(',')
    await expectMessage({ body: `{"a":{${fields(100_000)}}}` }, message)
    await expectMessage({ body: `[${'[],'.repeat(100_000)}1]` }, message)
    await expectMessage({ body: `[${'"",'.repeat(100_000)}1]` }, message)
    expect(await parsed({ body: `{"a":{${fields(99_997)}}}` })).toBeDefined()
    expect(await parsed({ body: `[${'1,'.repeat(500_000)}1]` })).toHaveLength(500_001)
  })

  it('refuses a body of more top-level fields than any API has', async () => {
    const body = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, 1])))
    await expectMessage({ body: body(1_001) }, 'the body must hold at most 1000 fields at the top level')
    expect(Object.keys(Object(await parsed({ body: body(1_000) })))).toHaveLength(1_000)
  })

  it('lets other requests have their turn while it reads several large bodies', async () => {
    const body = JSON.stringify('x'.repeat(100_000))
    let turns = 0
    let isReading = true
    const other = () => {
      turns += 1
      if (isReading) {
        setImmediate(other)
      }
    }
    setImmediate(other)
    await Promise.all([parsed({ body }), parsed({ body }), parsed({ body })])
    isReading = false
    expect(turns).toBeGreaterThanOrEqual(9)
  })

  it.each(['gzip', 'br', 'GZIP', 'gzip, identity'])('refuses a body that is compressed (%s)', async (coding) => {
    const headers = { 'Content-Encoding': coding }
    await expectMessage({ ...base64(gzipSync('{}')), headers }, 'the body must not be compressed')
  })

  it.each(['identity', '', ' Identity '])('takes the content encoding %j for none', async (coding) => {
    expect(await parsed({ body: '{}', headers: { 'content-encoding': coding } })).toStrictEqual({})
  })

  it('counts bytes, not characters and not base64, up to its bound', async () => {
    const exact = JSON.stringify('ü'.repeat(BYTES_MAX / 2 - 1))
    expect(Buffer.byteLength(exact)).toBe(BYTES_MAX)
    expect(await parsed({ body: exact })).toHaveLength(BYTES_MAX / 2 - 1)
    expect(await parsed(base64(exact))).toHaveLength(BYTES_MAX / 2 - 1)
    expect(await refusal({ body: `${exact} ` })).toBeInstanceOf(RequestBodyTooLargeError)
    expect(await refusal(base64(`${exact} `))).toBeInstanceOf(RequestBodyTooLargeError)
  })
})

describe('strict requests:', () => {
  beforeEach(() => {
    captureLog()
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  const STRICT = { Prefer: 'handling=strict' }

  async function run(members: Partial<ApiEvent>, unknownFields?: (json: unknown) => readonly string[]) {
    const handle = jest.fn(async () => jsonResult(200, '{}'))
    const body = unknownFields === undefined ? {} : { bodyBytesMax: 1000 }
    const chain = handlerChain({ ...listVideoJobs, ...body }, { unknownFields }).handler(handle)
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
      expect(handlingOf(receivedRequest(event)).isStrict).toBe(true)
    })
  })

  describe('an Idempotency-Key', () => {
    const respondTo = (takesIdempotencyKey: boolean, headers: Record<string, string> = {}) => {
      const route = { operation: 'test', query: [], ...(takesIdempotencyKey ? { takesIdempotencyKey } : {}) }
      const chain = handlerChain(route).handler(async () => jsonResult(200, '{}'))
      return chain(apiEvent({ headers: { 'idempotency-key': 'order-1', ...headers } }), context).then(seen)
    }

    it('is named as ignored where it does nothing, and a 400 of a strict request', async () => {
      expect(await respondTo(false)).toMatchObject({
        statusCode: 200,
        headers: { 'x-reelgate-ignored': 'Idempotency-Key' },
      })
      const { statusCode, body } = await respondTo(false, STRICT)
      expect(statusCode).toBe(400)
      expect(JSON.stringify(body)).toContain('the header `Idempotency-Key` would be ignored')
    })

    it('is not named where it counts', async () => {
      const { statusCode, headers } = await respondTo(true, STRICT)
      expect(statusCode).toBe(200)
      expect(headers).not.toHaveProperty('x-reelgate-ignored')
    })
  })

  describe('handlingHeaders', () => {
    it('are none before the request is read', () => {
      expect(handlingHeaders(undefined)).toStrictEqual({})
    })

    it('name a field and a query parameter of one name once', () => {
      const ignored = { query: ['a'], headers: [], fields: ['a', 'b'] }
      expect(handlingHeaders({ isStrict: false, ignored })).toStrictEqual({ 'x-reelgate-ignored': 'a, b' })
    })
  })
})
