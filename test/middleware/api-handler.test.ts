import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb'
import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { jsonResult } from '#middleware/api-event.ts'
import { keyedChain } from '#middleware/api-handler.ts'
import { apiEvent, captureLog, context, REQUEST_ID, seen } from './api-exchange.ts'
import { call, dynamo, ERROR_HEADERS, handler, KEY, storeKey, table } from './keyed-api.ts'

const PROMPT = 'a paper city that nobody may read about'

let log: ReturnType<typeof captureLog>
beforeEach(() => {
  dynamo.reset()
  dynamo.on(GetCommand).resolves({})
  log = captureLog()
})
afterEach(() => {
  jest.restoreAllMocks()
})

describe('apiHandler', () => {
  it('parses the body of a good key, null included', async () => {
    storeKey()
    expect((await call({ body: '{"a":1}' })).body.json).toStrictEqual({ a: 1 })
    expect((await call({ body: 'null' })).body.json).toBeNull()
  })

  it.each([
    ['a bad body', { body: '{' }, 400],
    ['a large body', { body: 'x'.repeat(1001) }, 413],
    ['an error of the handler', { pathParameters: { missing: 'yes' } }, 404],
  ])('answers %s with its status and the request id', async (_, members, statusCode) => {
    storeKey()
    const answer = await call(members)
    expect(answer.statusCode).toBe(statusCode)
    expect(answer.headers).toMatchObject({ 'x-request-id': REQUEST_ID })
  })

  it('hides a table that fails behind a 500 with the request id', async () => {
    dynamo.on(GetCommand).rejects(new Error('ProvisionedThroughputExceededException in table'))
    const answer = await call()
    expect(answer).toStrictEqual({ statusCode: 500, headers: ERROR_HEADERS, body: { error: 'internal error' } })
  })

  it('asks to come again, with a 503, while the table throttles', async () => {
    const throttled = new DynamoDBServiceException({ name: 'ThrottlingException', $fault: 'client', $metadata: {} })
    dynamo.on(GetCommand).rejects(throttled)
    const { statusCode, headers, body } = await call()
    expect({ statusCode, body }).toStrictEqual({ statusCode: 503, body: { error: 'service unavailable' } })
    expect(headers).toMatchObject({ 'retry-after': '1' })
  })

  it('leaves the body alone where an operation has none', async () => {
    storeKey()
    const bodiless = keyedChain({ operation: 'test', query: [] }, { openTable: () => table }).handler(async (event) =>
      jsonResult(200, JSON.stringify({ hasJson: 'json' in event })),
    )
    const event = apiEvent({ body: '{', headers: { authorization: `Bearer ${KEY}` } })
    expect(seen(await bodiless(event, context)).body).toStrictEqual({ hasJson: false })
  })
})

describe('apiHandler: the log of a request', () => {
  it('is one line with operation, status, tenant and the id that the client got', async () => {
    storeKey()
    const { headers } = await call()
    expect(headers).toMatchObject({ 'x-request-id': REQUEST_ID })
    const entries = log.entries()
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject({
      level: 'INFO',
      message: 'request',
      operation: 'test',
      requestId: REQUEST_ID,
      statusCode: 200,
      tenantId: 'tenant-1',
      durationMilliseconds: expect.any(Number),
    })
  })

  it('takes the id of the invocation where the gateway gave none', async () => {
    storeKey()
    const event = {
      ...apiEvent({ body: '{}', headers: { authorization: `Bearer ${KEY}` } }),
      requestContext: undefined,
    }
    const answer = await handler(JSON.parse(JSON.stringify(event)), context)
    expect(answer.headers).toMatchObject({ 'x-request-id': context.awsRequestId })
  })

  it('holds neither key nor prompt, whatever happens', async () => {
    const body = JSON.stringify({ prompt: PROMPT })
    await call({ body })
    storeKey()
    await call({ body })
    await call({ body: body.slice(0, -1) })
    await call({ body, pathParameters: { missing: 'yes' } })
    await call({ body: body + ' '.repeat(1000) })
    dynamo.on(GetCommand).rejects(new Error('unreachable'))
    await call({ body })
    expect(log.entries().filter(({ message }) => message === 'request')).toHaveLength(6)
    expect(log.text()).not.toContain(PROMPT)
    expect(log.text()).not.toContain(KEY)
    expect(log.text()).not.toContain('k'.repeat(32))
  })
})
