import { beforeEach, describe, expect, it } from '@jest/globals'
import {
  CHAT,
  chatAnswer,
  DONE,
  FINISH,
  openStream,
  sendJson,
  sendStream,
  startRelayRig,
  USAGE_CHUNK,
  word,
} from '../engines/relay-rig.ts'
import { BILLED } from '../engines/relayed-samples.ts'
import { useOpened } from '../engines/use-opened.ts'
import { ROLE_CHOICES, roleEvent } from '../relay/protocols/role-chunks.ts'

const BODY = { model: CHAT, messages: [{ role: 'user', content: 'Say hi' }], max_tokens: 100 }
const STREAMED = { ...BODY, stream: true }
const ROLE = roleEvent(ROLE_CHOICES['a refusal that is null'])
const ERROR = 'data: {"error":{"message":"overloaded"}}\n\n'

const rig = useOpened(() => startRelayRig({ channels: 2, channel: { timeouts: { first_byte_seconds: 2 } } }))
let tenant: { id: string; key: string }

beforeEach(async () => {
  tenant = await rig.tenant('1')
})

function upstream(index: number) {
  const found = rig.upstreams[index]
  if (found === undefined) {
    throw new TypeError(`there is no upstream ${index}`)
  }
  return found
}

async function callsOf(send: () => Promise<unknown>): Promise<number[]> {
  const before = rig.upstreams.map(({ calls }) => calls.length)
  await send()
  return rig.upstreams.map(({ calls }, index) => calls.length - (before[index] ?? 0))
}

describe('failover before the first byte', () => {
  it.each<[string, Parameters<ReturnType<typeof upstream>['answerWith']>[0]]>([
    ['a reset', (response) => void response.destroy()],
    ['a 500', (response) => sendJson(response, '{}', 500)],
    ['a 503', (response) => sendJson(response, '{}', 503)],
    ['a 429', (response) => sendJson(response, '{}', 429)],
    ['a refused key', (response) => sendJson(response, '{}', 401)],
    [
      'a stream that breaks off before its first event',
      (response) => {
        openStream(response).flushHeaders()
        setImmediate(() => response.destroy())
      },
    ],
    ['an error in the first event', (response) => sendStream(response, ERROR)],
    ['an empty stream', (response) => sendStream(response)],
    ['a stream that says nothing but that it is done', (response) => sendStream(response, DONE)],
    ['an end inside the first event', (response) => sendStream(response, 'data: {"choices":[{"delta":{"content":"wor')],
    ['an error behind the role', (response) => sendStream(response, ROLE, ERROR)],
    ['an end behind the role', (response) => sendStream(response, ROLE)],
    [
      'a stream that breaks off behind the role',
      (response) => {
        openStream(response).write(ROLE, () => response.destroy())
      },
    ],
  ])('after %s of one channel, the next one responds, and the request is billed once', async (_, fault) => {
    upstream(0).answerWith(fault)
    upstream(1).answerWith((response) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE))
    const calls = await callsOf(async () => {
      const { statusCode, text } = await rig.send(STREAMED, { key: tenant.key })
      expect(statusCode).toBe(200)
      expect(text).toBe(`${word('Hi')}${FINISH}${DONE}`.replaceAll('upstream-chat', CHAT))
    })
    expect(calls).toStrictEqual([1, 1])
    expect((await rig.rows(tenant.id)).filter(({ kind }) => kind === 'settle')).toMatchObject([
      { actual: 15_000n, channel: 'channel-1' },
    ])
  })

  it.each(BILLED)('the ledger names the channel that served $operation', async ({ operation, body, reply }) => {
    upstream(0).answerWith((response) => sendJson(response, '{}', 503))
    upstream(1).answerWith((response) => sendJson(response, reply))
    expect((await rig.send(body, { key: tenant.key, operation })).statusCode).toBe(200)
    const [settlement] = await rig.rows(tenant.id)
    expect(settlement).toMatchObject({ kind: 'settle', operation, channel: 'channel-1' })
  })

  it('a refused request is not sent to another channel', async () => {
    upstream(0).answerWith((response) => sendJson(response, '{"error":{"message":"no"}}', 422))
    upstream(1).answerWith((response) => sendJson(response, chatAnswer()))
    const calls = await callsOf(async () => {
      expect((await rig.send(BODY, { key: tenant.key })).statusCode).toBe(422)
    })
    expect(calls).toStrictEqual([1, 0])
  })

  it('a timeout causes no failover, because both upstreams could bill', async () => {
    upstream(0).answerWith(() => undefined)
    upstream(1).answerWith((response) => sendJson(response, chatAnswer()))
    const calls = await callsOf(async () => {
      const { statusCode, headers } = await rig.send(BODY, { key: tenant.key })
      expect(statusCode).toBe(504)
      expect(headers['x-should-retry']).toBe('false')
    })
    expect(calls).toStrictEqual([1, 0])
    expect(await rig.balance(tenant.id)).toStrictEqual({ available: '1', held: '0', spent: '0' })
  })
})

describe('failover after the first byte', () => {
  it('there is no second attempt', async () => {
    upstream(0).answerWith((response) => {
      openStream(response).write(word('Hi'), () => response.destroy())
    })
    upstream(1).answerWith((response) => sendStream(response, word('Other'), FINISH, DONE))
    const calls = await callsOf(async () => {
      const { text } = await rig.send(STREAMED, { key: tenant.key })
      expect(text).not.toContain('Other')
      expect(text).toContain('upstream_error')
    })
    expect(calls).toStrictEqual([1, 0])
  })
})
