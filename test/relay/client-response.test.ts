import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { EventSender, ResponseHeaders } from '#lambdas/relay/client-response.ts'
import { FakeResponse } from './fake-response.ts'

describe('ResponseHeaders', () => {
  it('completes a head with what was added, the request id and the time since the request arrived', () => {
    const headers = new ResponseHeaders('request-1', performance.now() - 1_500)
    headers.add({ 'x-ratelimit-limit-requests': '60' })
    const completed = headers.complete({ 'content-type': 'text/event-stream' })
    expect(completed).toMatchObject({
      'content-type': 'text/event-stream',
      'x-ratelimit-limit-requests': '60',
      'x-request-id': 'request-1',
      'x-content-type-options': 'nosniff',
    })
    expect(Number(completed['openai-processing-ms'])).toBeGreaterThanOrEqual(1_500)
    expect(headers.firstByteMilliseconds).toBe(Number(completed['openai-processing-ms']))
  })

  it('knows no time to the first byte before a head went out', () => {
    expect(new ResponseHeaders('request-1').firstByteMilliseconds).toBeUndefined()
  })

  it('replaces a header that is added again, and removes one that is undefined', () => {
    const headers = new ResponseHeaders('request-1')
    headers.add({ one: 'a', two: 'b' })
    headers.add({ one: 'c', two: undefined })
    expect(Object.keys(headers.complete({}))).toStrictEqual([
      'one',
      'x-request-id',
      'openai-processing-ms',
      'x-content-type-options',
    ])
    expect(headers.complete({}).one).toBe('c')
  })
})

describe('EventSender', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] })
  })
  afterEach(() => {
    jest.useRealTimers()
  })

  it('breaks a quarter of a minute of silence, counted from the last event', () => {
    const answer = new FakeResponse()
    const sender = new EventSender(answer, OPENAI_ERRORS)
    sender.keepAlive()
    for (const second of [10, 20, 30]) {
      jest.advanceTimersByTime(10_000)
      sender.write(`data: ${second}\n\n`)
    }
    jest.advanceTimersByTime(14_999)
    expect(answer.text).toBe('data: 10\n\ndata: 20\n\ndata: 30\n\n')
    jest.advanceTimersByTime(1)
    expect(answer.text).toBe('data: 10\n\ndata: 20\n\ndata: 30\n\n: keep-alive\n\n')
    sender.stop()
  })
})
