import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import middy from '@middy/core'
import { BudgetExceededError } from '#core/budgets.ts'
import {
  IdempotencyKeyReusedError,
  InsufficientQuotaError,
  InvalidApiKeyError,
  InvalidRequestError,
  MethodNotAllowedError,
  RequestBodyTooLargeError,
  RouteNotFoundError,
  ServiceUnavailableError,
  VideoJobNotFoundError,
} from '#core/errors.ts'
import { microcredits, parseCredits } from '#core/money.ts'
import { type ApiEvent, type ApiResult, jsonResult } from '#middleware/api-event.ts'
import { handlerChain } from '#middleware/handler-chain.ts'
import { allowedOrigins, errorResponse } from '#middleware/responses.ts'
import { apiEvent, captureLog, context, seen } from './api-exchange.ts'

describe('errorResponse:', () => {
  const VIDEO_PATH = '/v1/video/generations'
  const OPENAI_PATH = '/v1/chat/completions'
  const JSON_HEADERS = { 'content-type': 'application/json' }

  let log: ReturnType<typeof captureLog>
  beforeEach(() => {
    log = captureLog()
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  async function answerTo(error: unknown, path: string) {
    const handler = middy<ApiEvent, ApiResult>()
      .use(errorResponse())
      .handler(async () => {
        throw error
      })
    return seen(await handler(apiEvent({ path }), context))
  }

  const issues = [
    { path: 'duration', message: 'too long' },
    { path: 'model', message: '`model` is unknown' },
  ]

  /** Error, status, text of the video shape, type and code of the OpenAI shape, headers beyond the content type. */
  const ANSWERS: readonly [Error, number, string, string, string | null, Record<string, string>][] = [
    [
      new InvalidApiKeyError(),
      401,
      'invalid api key',
      'invalid_request_error',
      'invalid_api_key',
      { 'x-should-retry': 'false' },
    ],
    [
      new InsufficientQuotaError(),
      402,
      'insufficient quota for this video generation',
      'insufficient_quota',
      'insufficient_quota',
      {},
    ],
    [new BudgetExceededError(), 402, 'budget exceeded', 'insufficient_quota', 'budget_exceeded', {}],
    [new VideoJobNotFoundError(), 404, 'video job not found', 'invalid_request_error', 'not_found', {}],
    [new RouteNotFoundError(), 404, 'not found', 'invalid_request_error', 'not_found', {}],
    [
      new IdempotencyKeyReusedError(),
      409,
      'idempotency key reused with a different body',
      'invalid_request_error',
      null,
      { 'x-should-retry': 'false' },
    ],
    [new ServiceUnavailableError(), 503, 'service unavailable', 'server_error', null, { 'retry-after': '1' }],
  ]

  describe.each(ANSWERS)('%s', (error, statusCode, message, type, code, extraHeaders) => {
    const headers = { ...JSON_HEADERS, ...extraHeaders }

    it('answers exactly one text below /v1/video/', async () => {
      expect(await answerTo(error, VIDEO_PATH)).toStrictEqual({ statusCode, headers, body: { error: message } })
    })

    it('answers the OpenAI shape everywhere else', async () => {
      const body = { error: { message, type, param: null, code } }
      expect(await answerTo(error, OPENAI_PATH)).toStrictEqual({ statusCode, headers, body })
    })
  })

  it('405: names the methods, and has one text below /v1/video/', async () => {
    const error = new MethodNotAllowedError(['GET', 'POST'], 'PUT')
    const headers = { ...JSON_HEADERS, allow: 'GET, POST' }
    expect(await answerTo(error, VIDEO_PATH)).toStrictEqual({
      statusCode: 405,
      headers,
      body: { error: 'method not allowed' },
    })
    const message = 'method not allowed: this path takes GET or POST, not PUT'
    expect(await answerTo(error, OPENAI_PATH)).toStrictEqual({
      statusCode: 405,
      headers,
      body: { error: { message, type: 'invalid_request_error', param: null, code: 'method_not_allowed' } },
    })
  })

  it('413: names the bound, and has one text below /v1/video/', async () => {
    const error = new RequestBodyTooLargeError(5 * 1024 * 1024)
    expect((await answerTo(error, VIDEO_PATH)).body).toStrictEqual({ error: 'request body too large' })
    expect((await answerTo(error, OPENAI_PATH)).body).toMatchObject({
      error: { message: 'request body too large: it may have at most 5 MiB', code: 'request_body_too_large' },
    })
    expect((await answerTo(error, '/v1/messages')).body).toMatchObject({
      error: { type: 'request_too_large', message: expect.stringContaining('5 MiB') },
    })
    expect(new RequestBodyTooLargeError(64 * 1024).explanation).toContain('64 KiB')
  })

  describe('an exceeded budget whose amounts are known', () => {
    const needed = parseCredits('2')
    const exceeded = new BudgetExceededError({
      of: 'api key',
      needed,
      left: microcredits(500_000),
      period: { kind: 'month', id: '2026-11' },
    })
    const explanation =
      '2 credits are needed, but 0.5 are left in the monthly budget that this api key uses until 2026-12-01T00:00:00Z'

    it('has the fixed text of the video shape, and the amounts in details', async () => {
      const { body } = await answerTo(exceeded, VIDEO_PATH)
      expect(body).toStrictEqual({ error: 'budget exceeded', details: [{ path: '', message: explanation }] })
    })

    it('has the amounts in the message elsewhere', async () => {
      const { body } = await answerTo(exceeded, OPENAI_PATH)
      const error = { type: 'insufficient_quota', param: null, code: 'budget_exceeded' }
      expect(body).toStrictEqual({ error: { message: `budget exceeded: ${explanation}`, ...error } })
    })
  })

  describe('a missing quota whose amounts are known', () => {
    const shortfall = { needed: parseCredits('2'), available: microcredits(-500_000), advice: 'set n to at most 1' }

    it('has the fixed text of the video shape, and the amounts in details', async () => {
      const { body } = await answerTo(new InsufficientQuotaError('video generation', shortfall), VIDEO_PATH)
      expect(body).toStrictEqual({
        error: 'insufficient quota for this video generation',
        details: [{ path: '', message: '2 credits are needed, but -0.5 are available; set n to at most 1' }],
      })
    })

    it('has the amounts in the message elsewhere', async () => {
      const { body } = await answerTo(new InsufficientQuotaError('request', shortfall), OPENAI_PATH)
      expect(body).toStrictEqual({
        error: {
          message:
            'insufficient quota for this request: 2 credits are needed, but -0.5 are available; set n to at most 1',
          type: 'insufficient_quota',
          param: null,
          code: 'insufficient_quota',
        },
      })
    })
  })

  describe('InvalidRequestError', () => {
    it('tells everything to mend below /v1/video/', async () => {
      const body = { error: 'invalid request body', details: issues }
      const answer = await answerTo(new InvalidRequestError(issues), VIDEO_PATH)
      expect(answer).toStrictEqual({ statusCode: 400, headers: JSON_HEADERS, body })
    })

    it('tells the first thing to mend everywhere else', async () => {
      const body = { error: { message: 'too long', type: 'invalid_request_error', param: 'duration', code: null } }
      const answer = await answerTo(new InvalidRequestError(issues), OPENAI_PATH)
      expect(answer).toStrictEqual({ statusCode: 400, headers: JSON_HEADERS, body })
    })

    it('names no field where the body as a whole is wrong', async () => {
      const answer = await answerTo(new InvalidRequestError([{ path: '', message: 'the body is empty' }]), OPENAI_PATH)
      expect(answer.body.error).toMatchObject({ message: 'the body is empty', param: null })
      expect((await answerTo(new InvalidRequestError([]), OPENAI_PATH)).body.error.message).toBe('invalid request body')
    })
  })

  describe('everything else', () => {
    class NamesAStatusError extends Error {
      readonly statusCode = 418
      readonly expose = true
    }

    it.each([
      ['an error of the platform', new TypeError('secret internals at /var/task/index.mjs')],
      ['an error with a status of its own', new NamesAStatusError('secret internals')],
      ['a thrown text', 'secret internals'],
      ['a thrown object', { message: 'secret internals' }],
    ])('(%s) is a 500 that shows nothing of its inside and is logged', async (_, error) => {
      const video = await answerTo(error, VIDEO_PATH)
      expect(video).toStrictEqual({ statusCode: 500, headers: JSON_HEADERS, body: { error: 'internal error' } })
      const openai = await answerTo(error, OPENAI_PATH)
      const body = { error: { message: 'internal error', type: 'server_error', param: null, code: null } }
      expect(openai).toStrictEqual({ statusCode: 500, headers: JSON_HEADERS, body })
      expect(log.entries().filter(({ level }) => level === 'ERROR')).toHaveLength(2)
    })

    it.each(['TransactionConflictException', 'ThrottlingException', 'ProvisionedThroughputExceededException'])(
      '(%s of a contended table) is a 503, which SDKs try again',
      async (name) => {
        const contention = Object.assign(new Error('table reelgate'), { name, $fault: 'client', $metadata: {} })
        expect(await answerTo(contention, VIDEO_PATH)).toStrictEqual({
          statusCode: 503,
          headers: { ...JSON_HEADERS, 'retry-after': '1' },
          body: { error: 'service unavailable' },
        })
      },
    )

    it('shows nothing of the cause of a 503, which is logged', async () => {
      const error = new ServiceUnavailableError({ cause: new Error('table reelgate is contended') })
      expect(JSON.stringify(await answerTo(error, VIDEO_PATH))).not.toContain('reelgate')
      expect(log.text()).toContain('table reelgate is contended')
    })
  })

  describe('the log', () => {
    it.each(ANSWERS.filter(([, statusCode]) => statusCode < 500))('has no error for %s', async (error) => {
      await answerTo(error, VIDEO_PATH)
      expect(log.text()).toBe('')
    })
  })
})

describe('cross-origin requests:', () => {
  const APP = 'https://app.example.com'

  beforeEach(() => {
    captureLog()
  })
  afterEach(() => {
    jest.restoreAllMocks()
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
})
