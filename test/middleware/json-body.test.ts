import { gzipSync } from 'node:zlib'
import middy from '@middy/core'
import { describe, expect, it } from 'vitest'
import { HttpError, InvalidRequestError, RequestBodyTooLargeError } from '#core/errors.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { jsonBody } from '#middleware/json-body.ts'
import { apiEvent, context } from './api-exchange.ts'

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

async function expectMessage(members: Partial<ApiEvent>, message: string) {
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

  it('keeps a member called __proto__ a member', async () => {
    const json = await parsed({ body: '{"__proto__":{"admin":true}}' })
    expect(Object.keys(Object(json))).toStrictEqual(['__proto__'])
    expect(Object(json).admin).toBeUndefined()
  })

  it.each([null, ''])('refuses the empty body %j', async (body) => {
    await expectMessage({ body }, 'the body must not be empty: send a JSON object')
    await expectMessage({ body, isBase64Encoded: true }, 'the body must not be empty: send a JSON object')
  })

  it.each(['{', '{"a":1,}', "{'a':1}", '{"a":1}{', 'undefined', '\u0000', '{"a":\n', 'NaN', '-', '\ufeff'])(
    'refuses %j, which is not JSON',
    async (body) => {
      await expectMessage({ body }, 'the body must be valid JSON')
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
