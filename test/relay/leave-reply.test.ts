import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ABANDONED_MILLISECONDS_MAX, boundWhenGone, readLastBytes, reportCutReply } from '#lambdas/relay/leave-reply.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import { FakeBody } from './fake-body.ts'
import { relayChannel } from './relay-channel.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('boundWhenGone', () => {
  it.each([
    ['leaves meanwhile', false],
    ['has left already', true],
  ])('destroys the reply thirty seconds after a client that %s', (_, isGone) => {
    const client = new AbortController()
    const body = new FakeBody()
    if (isGone) {
      client.abort()
    }
    boundWhenGone(body, { gone: client.signal })
    client.abort()
    vi.advanceTimersByTime(ABANDONED_MILLISECONDS_MAX - 1)
    expect(body.isDestroyed).toBe(false)
    vi.advanceTimersByTime(1)
    expect(body.isDestroyed).toBe(true)
  })

  it('leaves a reply alone whose client stays, or that was read before the bound', () => {
    const client = new AbortController()
    const body = new FakeBody()
    const stop = boundWhenGone(body, { gone: client.signal })
    vi.advanceTimersByTime(10 * ABANDONED_MILLISECONDS_MAX)
    client.abort()
    stop()
    vi.advanceTimersByTime(ABANDONED_MILLISECONDS_MAX)
    expect([body.isDestroyed, vi.getTimerCount()]).toEqual([false, 0])
  })

  it('starts no timer for a client that leaves after the reply was read', () => {
    const client = new AbortController()
    boundWhenGone(new FakeBody(), { gone: client.signal })()
    client.abort()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('destroys the reply at once when the process ends', () => {
    const [client, ending] = [new AbortController(), new AbortController()]
    const [body, other] = [new FakeBody(), new FakeBody()]
    boundWhenGone(body, { gone: client.signal, ending: ending.signal })
    boundWhenGone(other, { gone: client.signal, ending: ending.signal })()
    client.abort()
    ending.abort()
    expect([body.isDestroyed, other.isDestroyed]).toEqual([true, false])
    vi.runAllTimers()
  })
})

describe('readLastBytes', () => {
  it('reads a reply to its end, and destroys nothing', async () => {
    const body = new FakeBody()
    body.end('\n', '\n')
    await readLastBytes(body, body)
    expect([body.isDestroyed, vi.getTimerCount()]).toEqual([false, 0])
  })

  it('destroys a reply that does not end within a second', async () => {
    const body = new FakeBody()
    const read = readLastBytes(body, body)
    await vi.advanceTimersByTimeAsync(999)
    expect(body.isDestroyed).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await read
    expect(body.isDestroyed).toBe(true)
  })

  it('destroys a reply that breaks off, and does not reject', async () => {
    const body = new FakeBody()
    body.breakOff()
    await readLastBytes(body, body)
    expect(body.isDestroyed).toBe(true)
  })
})

describe('reportCutReply', () => {
  it('counts each reply that a bound has cut', () => {
    const { counted } = captureTelemetry()
    reportCutReply({ channel: relayChannel('main'), upstreamRequestId: undefined }, 'bytes')
    expect(counted()).toEqual(['answer_cut_short'])
  })
})
