import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { UpstreamFailedError, UpstreamTimeoutError } from '#core/errors.ts'
import {
  ABANDONED_MILLISECONDS_MAX,
  boundWhenGone,
  cutReply,
  passOn,
  readLastBytes,
  readRefusal,
  readSuccessUpTo,
  refuseReply,
  reportCutReply,
} from '#lambdas/relay/read-reply.ts'
import { rulesOf } from '../core/relay/reply-rules.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import { FakeBody } from './fake-body.ts'
import { fakeReply } from './fake-reply.ts'
import { FakeResponse } from './fake-response.ts'
import { relayChannel } from './relay-channel.ts'

const inAMinute = () => performance.now() + 60_000
const telemetry = captureTelemetry()

describe('readSuccessUpTo', () => {
  it('has every byte of a reply in pieces', async () => {
    const { reply, body, told } = fakeReply()
    body.end('{"a"', ':1', '}')
    const pieces: Buffer[] = []
    expect(await readSuccessUpTo(reply, {}, pieces)).toBe(7)
    expect(Buffer.concat(pieces).toString()).toBe('{"a":1}')
    expect(told).toEqual([])
  })

  it('is late for a reply that is not whole by its deadline, which is counted as cut short', async () => {
    telemetry.reset()
    const { reply, body, told } = fakeReply()
    body.write('{')
    const read = readSuccessUpTo(reply, { deadline: performance.now() + 20 }, [])
    await expect(read).rejects.toBeInstanceOf(UpstreamTimeoutError)
    expect([body.isDestroyed, told, telemetry.counted()]).toEqual([true, ['timeout'], ['reply_cut_short']])
  })

  it('waits beyond the deadline for a client that has left, whose reply has another bound', async () => {
    const { reply, body } = fakeReply()
    body.write('{')
    const read = readSuccessUpTo(reply, { deadline: performance.now() + 20, gone: AbortSignal.abort() }, [])
    setTimeout(() => body.end('}'), 60)
    expect(await read).toBe(2)
  })

  it('fails with a reply that breaks off', async () => {
    const { reply, body } = fakeReply()
    body.write('{')
    body.breakOff()
    await expect(readSuccessUpTo(reply, {}, [])).rejects.toBeInstanceOf(UpstreamFailedError)
  })

  it('returns the part that is held of a larger JSON object', async () => {
    const { reply, body } = fakeReply()
    body.end('{"a":', '"long"}')
    const read = await readSuccessUpTo(reply, { bytesMax: 6 }, [])
    expect(typeof read === 'object' && Buffer.concat(read.held).toString()).toBe('{"a":"long"}')
  })

  it('blames the channel for a larger reply that is not a JSON object', async () => {
    const { reply, body, told } = fakeReply()
    body.write('<html>')
    await expect(readSuccessUpTo(reply, { bytesMax: 2 }, [])).rejects.toBeInstanceOf(UpstreamFailedError)
    expect([body.isDestroyed, told]).toEqual([true, ['odd_body']])
  })
})

describe('readSuccessUpTo, for a reply of several megabytes', () => {
  it('reads in steps of at most 64 KiB, between which others have their turn', async () => {
    const { reply, body } = fakeReply()
    const sizes: number[] = []
    let turns = 0
    let isOver = false
    const others = () => {
      turns += 1
      if (!isOver) {
        setImmediate(others)
      }
    }
    body.end('{', 'x'.repeat(3_000_000), '}')
    setImmediate(others)
    await readSuccessUpTo(reply, {}, { push: (bytes) => sizes.push(bytes.length) })
    isOver = true
    expect(Math.max(...sizes)).toBe(64 * 1024)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(3_000_002)
    expect(turns).toBeGreaterThanOrEqual(sizes.length - 2)
  })
})

describe('refuseReply', () => {
  it('blames the channel', () => {
    const { reply, told } = fakeReply()
    expect(() => refuseReply(reply, 'no choices')).toThrow(UpstreamFailedError)
    expect(told).toEqual(['odd_body'])
  })
})

describe('readRefusal', () => {
  it('removes the keys of the call, and keeps every other byte', async () => {
    const { reply, body } = fakeReply({ withoutCredentials: (text) => text.replace('sk-1', '[redacted]') })
    body.end('{"error":"the key sk-1 of Zürich"}')
    expect(
      (
        await readRefusal(reply, { deadline: inAMinute(), rules: rulesOf('chat-default'), errors: OPENAI_ERRORS })
      ).toString(),
    ).toBe('{"error":"the key [redacted] of Zürich"}')
  })

  it('holds no more than a mebibyte', async () => {
    const { reply, body } = fakeReply()
    body.write('x'.repeat(1024 * 1024), 'x')
    await expect(
      readRefusal(reply, { deadline: inAMinute(), rules: rulesOf('chat-default'), errors: OPENAI_ERRORS }),
    ).rejects.toBeInstanceOf(UpstreamFailedError)
    expect(body.isDestroyed).toBe(true)
  })
})

describe('for a large reply,', () => {
  const form = { ...rulesOf('chat'), list: 'choices' } as const
  const HELD = '{"model":"upstream-chat","choices":[{}'
  const REST = '],"usage":{"total_tokens":3}}'
  const telemetry = captureTelemetry()

  const unfinished = (body: FakeBody) => ({ held: [Buffer.from(HELD)], rest: body })

  describe('passOn', () => {
    it('relays a whole reply with the public model, and reads its bill on the way', async () => {
      const { body } = fakeReply()
      body.end(REST)
      const response = new FakeResponse()
      const passed = await passOn(unfinished(body), { form, status: 200, response })
      expect(passed).toEqual({ usage: { total_tokens: 3 }, entries: 1, bytes: HELD.length + REST.length, end: 'whole' })
      expect(response.text).toBe((HELD + REST).replace('upstream-chat', 'chat'))
      expect([response.head?.statusCode, response.ends]).toEqual([200, 1])
    })

    it.each([
      ['broken', false],
      ['abandoned', true],
    ])('ends a reply that breaks off as %s (client gone: %s), with incomplete JSON', async (end, isGone) => {
      const { body } = fakeReply()
      body.breakOff()
      const response = new FakeResponse()
      if (isGone) {
        response.leaving.abort()
      }
      expect(await passOn(unfinished(body), { form, status: 200, response })).toMatchObject({ end, usage: undefined })
      expect(() => JSON.parse(response.text)).toThrow(SyntaxError)
      expect(response.ends).toBe(1)
    })

    it('reads no further than its client does', async () => {
      const { body } = fakeReply()
      body.end(REST)
      const unread = body.unread
      const response = new FakeResponse()
      const room = Promise.withResolvers<void>()
      response.room = room.promise
      const passed = passOn(unfinished(body), { form, status: 200, response })
      await new Promise(setImmediate)
      expect(body.unread).toBe(unread)
      room.resolve()
      expect(await passed).toMatchObject({ end: 'whole' })
    })
  })

  describe('cutReply', () => {
    it('reads the rest for the bill, and counts the reply as cut short', async () => {
      telemetry.reset()
      const { reply, body, told } = fakeReply()
      body.end(REST)
      const large = await cutReply(reply, unfinished(body), { form })
      expect(large).toMatchObject({ usage: { total_tokens: 3 }, entries: 1, end: 'cut' })
      expect([told, telemetry.counted()]).toEqual([[], ['reply_cut_short']])
    })

    it('gives a reply up at the deadline of its client, billed for what came', async () => {
      const { reply, body } = fakeReply()
      const large = await cutReply(reply, unfinished(body), { form, deadline: performance.now() + 20 })
      expect(body.isDestroyed).toBe(true)
      expect(large).toMatchObject({ usage: undefined, entries: 1, end: 'cut' })
    })

    it('blames the channel for a reply without any entry', async () => {
      const { reply, body, told } = fakeReply()
      body.end('}')
      await cutReply(reply, { held: [Buffer.from('{')], rest: body }, { form })
      expect(told).toEqual(['too_large'])
    })
  })
})

describe('at the end of a reply,', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] })
  })
  afterEach(() => {
    jest.useRealTimers()
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
      jest.advanceTimersByTime(ABANDONED_MILLISECONDS_MAX - 1)
      expect(body.isDestroyed).toBe(false)
      jest.advanceTimersByTime(1)
      expect(body.isDestroyed).toBe(true)
    })

    it('leaves a reply alone whose client stays, or that was read before the bound', () => {
      const client = new AbortController()
      const body = new FakeBody()
      const stop = boundWhenGone(body, { gone: client.signal })
      jest.advanceTimersByTime(10 * ABANDONED_MILLISECONDS_MAX)
      client.abort()
      stop()
      jest.advanceTimersByTime(ABANDONED_MILLISECONDS_MAX)
      expect([body.isDestroyed, jest.getTimerCount()]).toEqual([false, 0])
    })

    it('starts no timer for a client that leaves after the reply was read', () => {
      const client = new AbortController()
      boundWhenGone(new FakeBody(), { gone: client.signal })()
      client.abort()
      expect(jest.getTimerCount()).toBe(0)
    })

    it('destroys the reply at once when the process ends', () => {
      const [client, ending] = [new AbortController(), new AbortController()]
      const [body, other] = [new FakeBody(), new FakeBody()]
      boundWhenGone(body, { gone: client.signal, ending: ending.signal })
      boundWhenGone(other, { gone: client.signal, ending: ending.signal })()
      client.abort()
      ending.abort()
      expect([body.isDestroyed, other.isDestroyed]).toEqual([true, false])
      jest.runAllTimers()
    })
  })

  describe('readLastBytes', () => {
    it('reads a reply to its end, and destroys nothing', async () => {
      const body = new FakeBody()
      body.end('\n', '\n')
      await readLastBytes(body, body)
      expect([body.isDestroyed, jest.getTimerCount()]).toEqual([false, 0])
    })

    it('destroys a reply that does not end within a second', async () => {
      const body = new FakeBody()
      const read = readLastBytes(body, body)
      await jest.advanceTimersByTimeAsync(999)
      expect(body.isDestroyed).toBe(false)
      await jest.advanceTimersByTimeAsync(1)
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
      expect(counted()).toEqual(['reply_cut_short'])
    })
  })
})
