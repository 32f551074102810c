import { describe, expect, it } from '@jest/globals'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { NothingRelayedError } from '#lambdas/relay/call-channel.ts'
import { EventSender } from '#lambdas/relay/client-response.ts'
import { ChatStream } from '#lambdas/relay/protocols/chat-stream.ts'
import { relayEvents } from '#lambdas/relay/relay-stream.ts'
import { rulesOf } from '../core/relay/reply-rules.ts'
import { USAGE_CHUNK, word } from '../engines/relay-rig.ts'
import { FakeBody } from './fake-body.ts'
import { FakeResponse } from './fake-response.ts'
import { ROLE_CHOICES, roleEvent } from './protocols/role-chunks.ts'
import { relayChannel } from './relay-channel.ts'

const ROLE = roleEvent(ROLE_CHOICES['a refusal that is null'])

function start() {
  const body = new FakeBody()
  const answer = new FakeResponse()
  const told: string[] = []
  const tell = { failed: () => void told.push('failed'), completed: () => void told.push('completed') }
  const reply = { ...tell, body, channel: relayChannel('main'), upstreamRequestId: undefined }
  const stream = new ChatStream({
    ...rulesOf('upstream-chat'),
    relaysUsage: false,
    choices: 1,
    withoutCredentials: (text) => text,
    costOf: () => undefined,
  })
  return {
    body,
    answer,
    told,
    over: relayEvents(reply, stream, { sender: new EventSender(answer, OPENAI_ERRORS), response: answer }),
  }
}

describe('relayEvents: what comes before anything was generated', () => {
  it('is not relayed, and the channel has failed when nothing follows', async () => {
    const { body, answer, told, over } = start()
    body.write(': hello\n\n', ROLE)
    body.breakOff()
    await expect(over).rejects.toThrow(NothingRelayedError)
    expect(answer.isOpen).toBe(false)
    expect(told).toStrictEqual(['failed'])
  })

  it('does not count as complete for its channel with [DONE]', async () => {
    const { body, told, over } = start()
    body.end(ROLE, 'data: [DONE]\n\n')
    await expect(over).rejects.toThrow(NothingRelayedError)
    expect(told).toStrictEqual(['failed'])
  })

  it('is relayed when it is longer than 1 MiB, so that it is not held without end', async () => {
    const { body, answer, over } = start()
    const roles = ROLE.repeat(Math.ceil((1024 * 1024) / ROLE.length))
    body.write(roles)
    body.breakOff()
    expect(await over).toBe('broken')
    expect(answer.text.startsWith(roles)).toBe(true)
    expect(answer.text).toContain('upstream_error')
  })

  it('is owed by a client who left, because its prompt was read: no other channel is asked', async () => {
    const { body, answer, over } = start()
    body.write(ROLE)
    answer.leaving.abort()
    body.breakOff()
    expect(await over).toBe('abandoned')
  })

  it('is not owed by a client who left before any choice had come', async () => {
    const { body, answer, over } = start()
    body.write(': hello\n\n')
    answer.leaving.abort()
    body.breakOff()
    await expect(over).rejects.toThrow(NothingRelayedError)
  })
})

describe('relayEvents: a stream that has come to its [DONE]', () => {
  it('is complete for its channel at once, although the upstream keeps the connection', async () => {
    const { body, told, over } = start()
    body.write(word('Hi'), 'data: [DONE]\n\n')
    expect(await over).toBe('whole')
    expect(told).toStrictEqual(['completed'])
    body.destroy()
  })
})

describe('a stream that closes in order without a finish reason and without [DONE]', () => {
  it('is whole after its usage, which comes last, and its channel has not failed', async () => {
    const { body, answer, told, over } = start()
    body.end(word('Hi'), USAGE_CHUNK)
    expect(await over).toBe('whole')
    expect(answer.text).not.toContain('upstream_error')
    expect(told).toStrictEqual([])
  })

  it('has broken off before its usage, which its client is told', async () => {
    const { body, answer, over } = start()
    body.end(word('Hi'))
    expect(await over).toBe('broken')
    expect(answer.text).toContain('upstream_error')
  })
})
