import { beforeEach, describe, expect, it } from 'vitest'
import { ROLE_CHOICES, roleEvent } from '../core/relay/role-chunks.ts'
import {
  chatEvent,
  DONE,
  FINISH,
  openStream,
  sendJson,
  sendStream,
  USAGE,
  USAGE_CHUNK,
  word,
} from '../engines/relay-upstream.ts'
import { useOpened } from '../engines/use-opened.ts'
import { asPublic, BODY, BROKEN, COST, ROLE, type StreamingTenant, startStreamRelay } from './stream-relay.ts'

const relay = useOpened(startStreamRelay)
let tenant: StreamingTenant

beforeEach(async () => {
  tenant = await relay.openTenant()
})

describe('an upstream that fails in the middle of a stream', () => {
  it('ends with one error event and without [DONE], and bills the relayed part once', async () => {
    relay.answerWith((response) => {
      openStream(response).write(`${word('Hello ')}${word('world')}`, () => response.destroy())
    })
    const { statusCode, text } = await tenant.send(BODY)
    expect(statusCode).toBe(200)
    expect(text).toBe(`${asPublic(word('Hello ') + word('world'))}data: ${JSON.stringify(BROKEN)}\n\n`)
    const row = await tenant.settlement()
    expect(row).toMatchObject({ kind: 'settle' })
    const actual = row?.actual ?? 0n
    expect(actual > 0n && actual < (row?.amount ?? 0n)).toBe(true)
  })

  it('drops an incomplete event', async () => {
    relay.answerWith((response) => {
      openStream(response).write(`${word('Hi')}data: {"choices":[{"del`, () => response.destroy())
    })
    const { text } = await tenant.send(BODY)
    expect(text).toBe(`${asPublic(word('Hi'))}data: ${JSON.stringify(BROKEN)}\n\n`)
  })

  it('drops an incomplete event after a clean close too, and bills the events before it', async () => {
    relay.answerWith((response) => sendStream(response, word('Hi'), 'data: {"choices":[{"delta":{"content":"wor'))
    const { text } = await tenant.send(BODY)
    expect(text).toBe(`${asPublic(word('Hi'))}data: ${JSON.stringify(BROKEN)}\n\n`)
    const row = await tenant.settlement()
    expect(row).toMatchObject({ kind: 'settle' })
    expect((row?.actual ?? 0n) < (row?.amount ?? 0n)).toBe(true)
  })

  it.each(Object.entries(ROLE_CHOICES))('costs nothing if it sent only %s', async (_, choices) => {
    relay.answerWith((response) => {
      openStream(response).write(roleEvent(choices), () => response.destroy())
    })
    const { statusCode } = await tenant.send(BODY)
    expect(statusCode).toBe(502)
    expect(await tenant.settlement()).toMatchObject({ kind: 'release' })
  })

  it('bills the usage if it arrived before the failure', async () => {
    relay.answerWith((response) => {
      openStream(response).write(`${word('Hi')}${chatEvent({ choices: [{}], usage: USAGE })}`, () => response.destroy())
    })
    await tenant.send(BODY)
    expect(await tenant.settlement()).toMatchObject({ kind: 'settle', actual: COST })
  })

  it('is an error status before the first byte, and costs nothing', async () => {
    relay.answerWith((response) => {
      openStream(response).flushHeaders()
      response.destroy()
    })
    const { statusCode, text } = await tenant.send(BODY)
    expect(statusCode).toBe(502)
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'upstream_error' } })
    expect(await tenant.settlement()).toMatchObject({ kind: 'release' })
  })

  it.each<[string, string[]]>([
    ['an error in its first event', ['data: {"error":{"message":"overloaded"}}\n\n', DONE]],
    ['nothing at all', []],
    ['a comment', [': hello\n\n']],
    ['a usage and no word', [USAGE_CHUNK]],
    ['nothing but [DONE]', [DONE]],
    ['half an event', ['data: {"id":"chatcmp']],
    ['a role and an error', [ROLE, 'data: {"error":{"message":"overloaded"}}\n\n']],
    ['a role and [DONE]', [ROLE, DONE]],
  ])('is an error status if the 200 reply is %s', async (_, events) => {
    relay.answerWith((response) => sendStream(response, ...events))
    const { statusCode } = await tenant.send(BODY)
    expect(statusCode).toBe(502)
    expect(await tenant.settlement()).toMatchObject({ kind: 'release' })
  })

  it('is the reported error if the 200 reply is a JSON error, and costs nothing', async () => {
    relay.answerWith((response) => sendJson(response, { error: { message: 'overloaded' } }))
    for (const stream of [true, false]) {
      expect((await tenant.send({ ...BODY, stream })).statusCode).toBe(502)
    }
    expect(await tenant.balance()).toStrictEqual({ available: '1', held: '0', spent: '0' })
  })

  it('relays the error event of the upstream without adding one', async () => {
    const error = 'data: {"error":{"message":"The server had an error","type":"server_error"}}\n\n'
    relay.answerWith((response) => sendStream(response, word('Hi'), error, DONE))
    const { text } = await tenant.send(BODY)
    expect(text).toBe(asPublic(word('Hi')) + error)
    expect(await tenant.settlement()).toMatchObject({ kind: 'settle' })
  })
})

describe('an incomplete upstream stream', () => {
  it.each<[string, string[]]>([
    ['its usage', [word('Hi'), FINISH, DONE]],
    ['its usage and [DONE]', [word('Hi'), FINISH]],
    ['the last blank line too', [word('Hi'), FINISH.trimEnd()]],
  ])('%s: the stream ends unchanged, billed at the estimate', async (_, events) => {
    relay.answerWith((response) => sendStream(response, ...events))
    const { text } = await tenant.send(BODY)
    expect(text).toBe(asPublic(events.join('')))
    const row = await tenant.settlement()
    expect(row).toMatchObject({ kind: 'settle' })
    expect(row?.actual).toBe(row?.amount)
  })

  it('[DONE] missing: the usage is billed', async () => {
    relay.answerWith((response) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK))
    await tenant.send(BODY)
    expect(await tenant.settlement()).toMatchObject({ actual: COST })
  })

  it('no finish reason: the stream ends with an error event', async () => {
    relay.answerWith((response) => sendStream(response, word('Hi')))
    const { text } = await tenant.send(BODY)
    expect(text).toContain('upstream_error')
    expect(await tenant.settlement()).toMatchObject({ kind: 'settle' })
  })
})
