import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { jsonResult } from '#middleware/api-event.ts'
import { handlerChain } from '#middleware/handler-chain.ts'
import { apiEvent, captureLog, context, REQUEST_ID } from './api-exchange.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

describe('handlerChain without a key', () => {
  it('serves any caller, with a request id and one log line', async () => {
    const log = captureLog()
    const handler = handlerChain({ operation: 'show' }).handler(async () => jsonResult(200, '{}'))
    expect(await handler(apiEvent({ headers: { authorization: 'Bearer nobody' } }), context)).toMatchObject({
      statusCode: 200,
      headers: { 'x-request-id': REQUEST_ID, 'x-content-type-options': 'nosniff' },
      body: '{}',
    })
    expect(log.entries()).toEqual([expect.objectContaining({ operation: 'show', statusCode: 200 })])
  })

  it('hides the cause of a 500', async () => {
    captureLog()
    const handler = handlerChain({ operation: 'show' }).handler(async () => {
      throw new Error('secret')
    })
    const { statusCode, body } = await handler(apiEvent(), context)
    expect(statusCode).toBe(500)
    expect(body).not.toContain('secret')
  })
})
