import { ConditionalCheckFailedException, DynamoDBServiceException } from '@aws-sdk/client-dynamodb'
import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { captureLog } from './api-exchange.ts'
import { call, dynamo, storeKey, UNAUTHORIZED } from './keyed-api.ts'

let log: ReturnType<typeof captureLog>
beforeEach(() => {
  dynamo.reset()
  log = captureLog()
})
afterEach(() => {
  vi.restoreAllMocks()
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
      'x-ratelimit-remaining-requests': '8',
      'x-ratelimit-reset-requests': expect.stringMatching(/^1\.[34]\d*s$|^1\.5s$/),
    })
  })

  it('is refused above it, before the body is looked at, with the time until the next request passes', async () => {
    storeLimitedKey()
    isRefusedAt(11_200_000)
    const { statusCode, headers, body } = await call({ body: '{' })
    expect({ statusCode, body }).toStrictEqual({ statusCode: 429, body: { error: 'rate limit exceeded' } })
    expect(headers).toStrictEqual({
      'content-type': 'application/json',
      'retry-after': '3',
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '10s',
      'x-request-id': UNAUTHORIZED.headers['x-request-id'],
      'openai-processing-ms': expect.any(String),
      'x-content-type-options': 'nosniff',
    })
    expect(log.entries()).toMatchObject([{ message: 'request', statusCode: 429, tenantId: 'tenant-1' }])
  })

  it('gets the OpenAI shape on other paths, and nothing that would keep an SDK from trying again', async () => {
    storeLimitedKey()
    isRefusedAt(10_000_000)
    const { headers, body } = await call({ path: '/v1/models' })
    expect(body).toStrictEqual({
      error: { message: 'rate limit exceeded', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
    })
    expect(headers).toMatchObject({ 'retry-after': '1' })
    expect(headers).not.toHaveProperty('x-should-retry')
  })

  it('has its refused requests counted once: a flood costs reads, and no writes', async () => {
    storeLimitedKey()
    isRefusedAt(11_000_000)
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
    vi.spyOn(Math, 'random').mockReturnValue(0)
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
