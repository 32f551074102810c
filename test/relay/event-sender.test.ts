import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { EventSender } from '#lambdas/relay/event-sender.ts'
import { FakeResponse } from './fake-response.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('breaks a quarter of a minute of silence, counted from the last event', () => {
  const answer = new FakeResponse()
  const sender = new EventSender(answer)
  sender.keepAlive()
  for (const second of [10, 20, 30]) {
    vi.advanceTimersByTime(10_000)
    sender.write(`data: ${second}\n\n`)
  }
  vi.advanceTimersByTime(14_999)
  expect(answer.text).toBe('data: 10\n\ndata: 20\n\ndata: 30\n\n')
  vi.advanceTimersByTime(1)
  expect(answer.text).toBe('data: 10\n\ndata: 20\n\ndata: 30\n\n: keep-alive\n\n')
  sender.stop()
})
