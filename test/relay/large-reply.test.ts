import { describe, expect, it } from 'vitest'
import { cutReply, passOn } from '#lambdas/relay/large-reply.ts'
import { rulesOf } from '../core/relay/reply-rules.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import type { FakeBody } from './fake-body.ts'
import { fakeReply } from './fake-reply.ts'
import { FakeResponse } from './fake-response.ts'

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
    expect([told, telemetry.counted()]).toEqual([[], ['answer_cut_short']])
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
    expect(told).toEqual(['failed'])
  })
})
