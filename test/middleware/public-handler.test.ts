import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { jsonResult } from '#middleware/api-event.ts'
import { publicHandler } from '#middleware/public-handler.ts'
import { apiEvent, captureLog, context, REQUEST_ID } from './api-exchange.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

describe('an operation without a key', () => {
  it('answers whoever calls, with a request id and one log line', async () => {
    const log = captureLog()
    const handler = publicHandler('show', async () => jsonResult(200, '{}'))
    expect(await handler(apiEvent({ headers: { authorization: 'Bearer nobody' } }), context)).toMatchObject({
      statusCode: 200,
      headers: { 'x-request-id': REQUEST_ID },
      body: '{}',
    })
    expect(log.entries()).toEqual([expect.objectContaining({ operation: 'show', statusCode: 200 })])
  })

  it('hides what went wrong in it', async () => {
    captureLog()
    const handler = publicHandler('show', async () => {
      throw new Error('secret')
    })
    const { statusCode, body } = await handler(apiEvent(), context)
    expect(statusCode).toBe(500)
    expect(body).not.toContain('secret')
  })
})
