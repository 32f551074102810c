import { describe, expect, it } from 'vitest'
import { UpstreamFailedError, UpstreamTimeoutError } from '#core/errors.ts'
import { ReplyTooLargeError } from '#lambdas/relay/large-reply.ts'
import { readRefusal, readSuccess, readSuccessUpTo, refuseReply, relayRefusal } from '#lambdas/relay/read-reply.ts'
import { HIDDEN, rulesOf } from '../core/relay/reply-rules.ts'
import { captureTelemetry } from '../engines/counted-facts.ts'
import { fakeReply } from './fake-reply.ts'
import { FakeResponse } from './fake-response.ts'

const form = { ...rulesOf('chat'), list: 'choices' } as const
const inAMinute = () => performance.now() + 60_000
const telemetry = captureTelemetry()

describe('readSuccess', () => {
  it('has every byte of a reply in pieces', async () => {
    const { reply, body, told } = fakeReply()
    body.end('{"a"', ':1', '}')
    expect((await readSuccess(reply, { form })).toString()).toBe('{"a":1}')
    expect(told).toEqual([])
  })

  it('is late for a reply that is not whole by its deadline, which is counted as cut short', async () => {
    telemetry.reset()
    const { reply, body, told } = fakeReply()
    body.write('{')
    const read = readSuccess(reply, { form, deadline: performance.now() + 20 })
    await expect(read).rejects.toBeInstanceOf(UpstreamTimeoutError)
    expect([body.isDestroyed, told, telemetry.counted()]).toEqual([true, ['timeout'], ['answer_cut_short']])
  })

  it('waits beyond the deadline for a client that has left, whose reply has another bound', async () => {
    const { reply, body } = fakeReply()
    body.write('{')
    const read = readSuccess(reply, { form, deadline: performance.now() + 20, gone: AbortSignal.abort() })
    setTimeout(() => body.end('}'), 60)
    expect((await read).toString()).toBe('{}')
  })

  it('fails with a reply that breaks off', async () => {
    const { reply, body } = fakeReply()
    body.write('{')
    body.breakOff()
    await expect(readSuccess(reply, { form })).rejects.toBeInstanceOf(UpstreamFailedError)
  })

  it('reads a larger reply to its end for its bill, and blames no channel for it', async () => {
    const { reply, body, told } = fakeReply()
    body.end('{"choices":[{"index":0}]', ',"usage":{"total_tokens":3}}')
    const read = readSuccess(reply, { form, bytesMax: 10 })
    await expect(read).rejects.toBeInstanceOf(ReplyTooLargeError)
    await expect(read).rejects.toMatchObject({ reply: { usage: { total_tokens: 3 }, entries: 1, end: 'cut' } })
    expect(told).toEqual([])
  })
})

describe('readSuccessUpTo', () => {
  it('returns the part that is held of a larger JSON object', async () => {
    const { reply, body } = fakeReply()
    body.end('{"a":', '"long"}')
    const read = await readSuccessUpTo(reply, { bytesMax: 6 })
    expect('held' in read && Buffer.concat(read.held).toString()).toBe('{"a":"long"}')
  })

  it('blames the channel for a larger reply that is not a JSON object', async () => {
    const { reply, body, told } = fakeReply()
    body.write('<html>')
    await expect(readSuccessUpTo(reply, { bytesMax: 2 })).rejects.toBeInstanceOf(UpstreamFailedError)
    expect([body.isDestroyed, told]).toEqual([true, ['failed']])
  })
})

describe('refuseReply', () => {
  it('blames the channel', () => {
    const { reply, told } = fakeReply()
    expect(() => refuseReply(reply, 'no choices')).toThrow(UpstreamFailedError)
    expect(told).toEqual(['failed'])
  })
})

describe('readRefusal', () => {
  it('removes the keys of the call, and keeps every other byte', async () => {
    const { reply, body } = fakeReply({ withoutCredentials: (text) => text.replace('sk-1', '[redacted]') })
    body.end('{"error":"the key sk-1 of Zürich"}')
    expect((await readRefusal(reply, { deadline: inAMinute(), hidden: HIDDEN })).toString()).toBe(
      '{"error":"the key [redacted] of Zürich"}',
    )
  })

  it('holds no more than a mebibyte', async () => {
    const { reply, body } = fakeReply()
    body.write('x'.repeat(1024 * 1024), 'x')
    await expect(readRefusal(reply, { deadline: inAMinute(), hidden: HIDDEN })).rejects.toBeInstanceOf(
      UpstreamFailedError,
    )
    expect(body.isDestroyed).toBe(true)
  })
})

describe('relayRefusal', () => {
  it('relays the status and the error as JSON', async () => {
    const { reply, body } = fakeReply({ status: 422, contentType: 'application/problem+json' })
    body.end('{"error":"no"}')
    const response = new FakeResponse()
    await relayRefusal(reply, response, { deadline: inAMinute(), hidden: HIDDEN })
    expect(response.head).toMatchObject({ statusCode: 422, headers: { 'content-type': 'application/json' } })
    expect([response.text, response.ends]).toEqual(['{"error":"no"}', 1])
  })
})
