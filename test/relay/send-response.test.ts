import { describe, expect, it } from '@jest/globals'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import { microcredits } from '#core/money.ts'
import { costHeaders, sendError, sendJson } from '#lambdas/relay/send-response.ts'
import { setTestLogging } from '../logs/test-logging.ts'
import { FakeResponse } from './fake-response.ts'

setTestLogging()

describe('sendError: an error', () => {
  it.each([
    [new UpstreamFailedError(), 502],
    [new TypeError('a fault of ours'), 500],
  ])('after a bill says that SDKs are not to try it again: %s', (error, statusCode) => {
    const headers = [true, false].map((isBilled) => {
      const response = new FakeResponse()
      sendError(response, error, { errors: OPENAI_ERRORS, requestId: 'request-1', isBilled })
      expect(response.head?.statusCode).toBe(statusCode)
      return response.head?.headers
    })
    expect(headers[0]).toMatchObject({ 'x-should-retry': 'false' })
    expect(headers[1]).not.toHaveProperty('x-should-retry')
  })

  it('after a bill says what was billed', () => {
    const failed = { errors: OPENAI_ERRORS, requestId: 'request-1', cost: microcredits(5_195) }
    const costs = [true, false].map((isBilled) => {
      const response = new FakeResponse()
      sendError(response, new UpstreamFailedError(), { ...failed, isBilled })
      return response.head?.headers['x-reelgate-cost']
    })
    expect(costs).toEqual(['0.005195', undefined])
  })
})

describe('costHeaders', () => {
  it.each([
    [5_195, '0.005195'],
    [1_000_000, '1'],
    [0, '0'],
  ])('writes %d millionths of a credit as %s', (amount, cost) => {
    expect(costHeaders(microcredits(amount))).toStrictEqual({ 'x-reelgate-cost': cost })
  })

  it('is empty where nothing is billed', () => {
    expect(costHeaders(undefined)).toStrictEqual({})
  })
})

describe('sendJson', () => {
  it('sends pieces of views with their length, and waits for a slow client between two of them', async () => {
    const response = new FakeResponse()
    const room = Promise.withResolvers<void>()
    response.room = room.promise
    const sent = sendJson(response, {
      statusCode: 201,
      pieces: [new Uint8Array([0, 91]).subarray(1), Buffer.alloc(70_000, ' '), Buffer.from(']')],
    })
    await new Promise(setImmediate)
    expect(response.text).toBe('[')
    room.resolve()
    await sent
    expect([response.text, response.ends]).toEqual([`[${' '.repeat(70_000)}]`, 1])
    expect(response.head).toEqual({
      statusCode: 201,
      headers: { 'content-type': 'application/json', 'content-length': '70002' },
    })
  })

  it('sends few bytes in one piece', async () => {
    const response = new FakeResponse()
    response.room = new Promise(() => undefined)
    await sendJson(response, { statusCode: 200, pieces: [Buffer.from('['), Buffer.from(']')] })
    expect([response.text, response.ends]).toEqual(['[]', 1])
  })

  it('does not wait for a slow client after the last piece', async () => {
    const response = new FakeResponse()
    response.room = new Promise(() => undefined)
    await sendJson(response, { statusCode: 200, pieces: [Buffer.from('{}')] })
    expect(response.ends).toBe(1)
  })
})
