import { ConditionalCheckFailedException, DynamoDBServiceException } from '@aws-sdk/client-dynamodb'
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { rateHeaders } from '#core/limits.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { captureLog } from './api-exchange.ts'
import { call, dynamo, item, KEY, storeKey, UNAUTHORIZED } from './keyed-api.ts'

describe('authenticate', () => {
  let log: ReturnType<typeof captureLog>
  beforeEach(() => {
    dynamo.reset()
    dynamo.on(GetCommand).resolves({})
    log = captureLog()
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  describe('a good key', () => {
    it('puts its tenant on the event, after one strongly consistent read of its digest', async () => {
      storeKey({ models: ['famA-2'] })
      const { statusCode, body } = await call({ headers: { AUTHORIZATION: `bearer ${KEY}` } })
      expect(statusCode).toBe(200)
      expect(body.caller).toStrictEqual({
        tenantId: 'tenant-1',
        keyId: 'Ab3dEf9h',
        keyDigest: sha256Hex(KEY),
        models: ['famA-2'],
      })
      const reads = dynamo.commandCalls(GetCommand)
      expect(reads).toHaveLength(1)
      expect(reads[0]?.args[0].input).toMatchObject({ TableName: 'table', ConsistentRead: true })
      expect(JSON.stringify(reads[0]?.args[0].input)).toContain(sha256Hex(KEY))
      expect(JSON.stringify(reads[0]?.args[0].input)).not.toContain(KEY)
    })

    it('that expires later, or has another shape, is good', async () => {
      storeKey({ expiresAt: Math.trunc(Date.now() / 1000) + 60 })
      expect((await call()).statusCode).toBe(200)
      expect((await call({ headers: { authorization: 'Bearer local-key' } })).statusCode).toBe(200)
    })
  })

  describe('a bad key', () => {
    it.each<[string, Partial<ApiEvent>]>([
      ['mistyped', { headers: { authorization: `Bearer ${KEY.slice(0, -1)}~` } }],
      ['with a wrong checksum', { headers: { authorization: `Bearer ${KEY.slice(0, -1)}x` } }],
      ['cut', { headers: { authorization: 'Bearer rg_live_' } }],
    ])('(%s) is the same 401, without a read', async (_, members) => {
      storeKey()
      expect(await call(members)).toStrictEqual(UNAUTHORIZED)
      expect(dynamo.calls()).toHaveLength(0)
    })

    const OF_ADMIN =
      'this is an admin key, which `/admin/v1` at the address of the console takes; this route takes an API key (`rg_live_...`)'
    const SEND_BEARER = 'send it as `Authorization: Bearer <key>`'

    it.each<[string, Partial<ApiEvent>, string]>([
      ['missing', { headers: {} }, SEND_BEARER],
      ['empty', { headers: { authorization: '' } }, SEND_BEARER],
      ['without its scheme', { headers: { authorization: KEY } }, SEND_BEARER],
      ['of another scheme', { headers: { authorization: `Basic ${KEY}` } }, SEND_BEARER],
      ['behind two spaces', { headers: { authorization: `Bearer  ${KEY}` } }, SEND_BEARER],
      ['with a NUL', { headers: { authorization: `Bearer ${KEY}\0` } }, SEND_BEARER],
      ['in another alphabet', { headers: { authorization: 'Bearer 钥匙' } }, SEND_BEARER],
      ['of ten kilobytes', { headers: { authorization: `Bearer ${'k'.repeat(10_240)}` } }, SEND_BEARER],
      ['sent twice', { multiValueHeaders: { Authorization: [`Bearer ${KEY}`, `Bearer ${KEY}`] } }, SEND_BEARER],
      [
        'sent twice in two spellings',
        { multiValueHeaders: { Authorization: [`Bearer ${KEY}`], authorization: [`Bearer ${KEY}`] } },
        SEND_BEARER,
      ],
      ['of an admin', { headers: { authorization: 'Bearer rg_admin_x' } }, OF_ADMIN],
      ['in x-api-key', { headers: { 'x-api-key': KEY } }, `${SEND_BEARER}, not in \`x-api-key\``],
    ])(
      '(%s) is the same 401, without a read, and its request is told how to send a key',
      async (_, members, message) => {
        storeKey()
        const body = { error: 'invalid api key', details: [{ path: '', message }] }
        expect(await call(members)).toStrictEqual({ ...UNAUTHORIZED, body })
        expect(dynamo.calls()).toHaveLength(0)
      },
    )

    it.each([
      ['unknown', undefined],
      ['revoked', { ...item, state: 'revoked' }],
      ['expired', { ...item, expiresAt: 1_000_000 }],
      ['that expires this second', { ...item, expiresAt: Math.trunc(Date.now() / 1000) }],
    ])('(%s) is the same 401, after the read', async (_, stored) => {
      dynamo.on(GetCommand).resolves(stored === undefined ? {} : { Item: stored })
      expect(await call()).toStrictEqual(UNAUTHORIZED)
      expect(dynamo.calls()).toHaveLength(1)
    })

    it('is logged by its code and what is wrong with its request, without the key', async () => {
      await call()
      await call({ headers: { authorization: KEY } })
      expect(log.entries()).toMatchObject([
        { statusCode: 401, errorCode: 'invalid_api_key' },
        { statusCode: 401, errorCode: 'invalid_api_key', reason: SEND_BEARER },
      ])
      expect(log.text()).not.toContain(KEY)
    })

    it('is told before a bad body', async () => {
      expect(await call({ body: '{' })).toStrictEqual(UNAUTHORIZED)
    })

    it('has the OpenAI shape on other paths, and names both headers where both are taken', async () => {
      const { statusCode, body } = await call({ path: '/v1/models', headers: {} })
      expect(statusCode).toBe(401)
      expect(body.error).toMatchObject({
        message: `invalid api key: ${SEND_BEARER} or \`x-api-key: <key>\``,
        code: 'invalid_api_key',
      })
    })
  })
})

describe('limit rate', () => {
  let log: ReturnType<typeof captureLog>
  beforeEach(() => {
    dynamo.reset()
    log = captureLog()
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  /** Each test has a key of its own: what one instance knows of a key stays with it. */
  let keys = 0
  function storeLimitedKey(members: Record<string, unknown> = {}): void {
    keys += 1
    storeKey({ keyId: `limited-${keys}`, ratePerMinute: 60, ...members })
  }

  /** As the table answers: the arrival time after this request, in microseconds from now. */
  const passesWith = (ahead: number) =>
    dynamo.on(UpdateCommand).resolves({ Attributes: { tat: Date.now() * 1000 + ahead } })
  const isRefusedAt = (ahead: number) =>
    dynamo.on(UpdateCommand).rejects(
      new ConditionalCheckFailedException({
        message: 'no',
        $metadata: {},
        Item: { tat: { N: String(Date.now() * 1000 + ahead) } },
      }),
    )

  describe('a key with a rate', () => {
    it('has its requests counted, and is told what is left', async () => {
      storeLimitedKey()
      passesWith(1_500_000)
      const { statusCode, headers } = await call()
      expect(statusCode).toBe(200)
      expect(headers).toMatchObject({
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '10',
        'x-ratelimit-reset-requests': expect.stringMatching(/^1\.[34]\d*s$|^1\.5s$/),
      })
    })

    it('is refused above it, before the body is looked at, with the time until the next request is allowed', async () => {
      storeLimitedKey()
      isRefusedAt(13_200_000)
      jest.spyOn(Math, 'random').mockReturnValue(0.5)
      const { statusCode, headers, body } = await call({ body: '{' })
      const message = 'this key may send 60 a minute, and 12 at once after a rest: wait 6 s'
      const refused = { error: 'rate limit exceeded', details: [{ path: '', message }] }
      expect({ statusCode, body }).toStrictEqual({ statusCode: 429, body: refused })
      expect(headers).toStrictEqual({
        'content-type': 'application/json',
        'retry-after': '6',
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '12s',
        'x-request-id': UNAUTHORIZED.headers['x-request-id'],
        'openai-processing-ms': expect.any(String),
        'x-content-type-options': 'nosniff',
      })
      expect(log.entries()).toMatchObject([{ message: 'request', statusCode: 429, tenantId: 'tenant-1' }])
    })

    it('gets the OpenAI shape on other paths, and nothing that would keep an SDK from trying again', async () => {
      storeLimitedKey()
      isRefusedAt(12_000_000)
      jest.spyOn(Math, 'random').mockReturnValue(0)
      const { headers, body } = await call({ path: '/v1/models' })
      expect(body).toStrictEqual({
        error: {
          message: 'rate limit exceeded: this key may send 60 a minute, and 12 at once after a rest: wait 1 s',
          type: 'rate_limit_error',
          param: null,
          code: 'rate_limit_exceeded',
        },
      })
      expect(headers).toMatchObject({ 'retry-after': '1' })
      expect(headers).not.toHaveProperty('x-should-retry')
    })

    it('has its refused requests counted once: a flood costs reads, and no writes', async () => {
      storeLimitedKey()
      isRefusedAt(13_000_000)
      const answers = [await call(), await call(), await call()]
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([429, 429, 429])
      expect(dynamo.commandCalls(UpdateCommand)).toHaveLength(1)
    })

    it.each([
      ['revoked', { state: 'revoked' }],
      ['suspended', { suspended: true }],
      ['expired', { expiresAt: Math.trunc(Date.now() / 1000) }],
    ])('that is %s is refused as such, and not counted', async (_, members) => {
      storeLimitedKey(members)
      expect(await call()).toStrictEqual(UNAUTHORIZED)
      expect(dynamo.commandCalls(UpdateCommand)).toHaveLength(0)
    })

    it('is told to come again while the table throttles', async () => {
      storeLimitedKey()
      const throttled = new DynamoDBServiceException({ name: 'ThrottlingException', $fault: 'client', $metadata: {} })
      dynamo.on(UpdateCommand).rejects(throttled)
      jest.spyOn(Math, 'random').mockReturnValue(0)
      expect(await call()).toMatchObject({ statusCode: 503, body: { error: 'service unavailable' } })
    })
  })

  describe('a key without a rate', () => {
    it('costs nothing more, and is told of no limit', async () => {
      storeKey()
      const { statusCode, headers } = await call()
      expect(statusCode).toBe(200)
      expect(Object.keys(headers ?? {}).filter((name) => name.startsWith('x-ratelimit'))).toEqual([])
      expect(dynamo.calls()).toHaveLength(1)
    })
  })
})

describe('rateHeaders', () => {
  it('say what is left, with the time in seconds as OpenAI writes it', () => {
    expect(rateHeaders({ limit: 60, remaining: 3, resetMilliseconds: 8_640 })).toEqual({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '3',
      'x-ratelimit-reset-requests': '8.64s',
    })
  })

  it('are none for a key without a rate', () => {
    expect(rateHeaders(undefined)).toEqual({})
  })
})
