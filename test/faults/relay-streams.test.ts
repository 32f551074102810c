import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { keyIdOf } from '#core/api-key.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import {
  CHAT,
  chatAnswer,
  chatEvent,
  DONE,
  FINISH,
  FREE,
  openStream,
  sendJson,
  sendStream,
  USAGE,
  USAGE_CHUNK,
  word,
} from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { ROLE_CHOICES, roleEvent } from '../relay/protocols/role-chunks.ts'
import { asPublic, BODY, BROKEN, COST, ROLE, type StreamingTenant, startStreamRelay } from './stream-relay.ts'

const relay = useOpened(startStreamRelay)

describe('a stream in unusual chunks', () => {
  let tenant: StreamingTenant

  beforeEach(async () => {
    tenant = await relay.openTenant()
  })
  afterEach(() => {
    jest.useRealTimers()
  })

  it('is the same for the client if every byte arrives alone', async () => {
    const events = `event: x\r\n${word('Grüße, 世界 🌍')}${FINISH}${USAGE_CHUNK}${DONE}`
    relay.answerWith(async (response) => {
      openStream(response)
      for (const byte of Buffer.from(events)) {
        if (!response.write(Buffer.of(byte))) {
          await once(response, 'drain')
        }
      }
      response.end()
    })
    const { text } = await tenant.send({ ...BODY, stream_options: { include_usage: true } })
    expect(text).toBe(asPublic(events).replace('"total_tokens":12}', '"total_tokens":12,"cost":0.015}'))
    expect(await tenant.settlement()).toMatchObject({ actual: COST })
  })

  it('relays the held-back role with the first word, and at the end of an empty response', async () => {
    for (const events of [
      [ROLE, word('Hi'), FINISH],
      [ROLE, FINISH],
    ]) {
      relay.answerWith(async (response) => {
        openStream(response)
        for (const event of events) {
          await new Promise((resolve) => response.write(event, resolve))
        }
        response.end(USAGE_CHUNK + DONE)
      })
      const { text } = await tenant.send(BODY)
      expect(text).toBe(asPublic(events.join('') + DONE))
    }
  })

  it('gets a comment after every 15 seconds of silence', async () => {
    jest.useFakeTimers({
      doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'performance', 'queueMicrotask', 'Date'],
    })
    const silent = Promise.withResolvers<void>()
    relay.answerWith(async (response) => {
      openStream(response).write(word('Hi'))
      await silent.promise
      response.end(`${FINISH}${USAGE_CHUNK}${DONE}`)
    })
    let comments = 0
    const read = (chunk: Buffer) => {
      comments += chunk.toString().match(/: keep-alive\n\n/g)?.length ?? 0
      if (chunk.includes('"Hi"')) {
        // Four minutes.
        setImmediate(() => {
          jest.advanceTimersByTime(240_000)
          silent.resolve()
        })
      }
    }
    const { text } = await tenant.send(BODY, { client: { read } })
    expect(comments).toBe(16)
    expect(text.replaceAll(': keep-alive\n\n', '')).toBe(asPublic(word('Hi') + FINISH + DONE))
    expect(await tenant.settlement()).toMatchObject({ actual: COST })
  })

  it.each(['Text/Event-Stream; charset=utf-8', undefined])('is recognised by the content type %s', async (type) => {
    relay.answerWith((response) => {
      response.writeHead(200, type === undefined ? {} : { 'content-type': type })
      response.end(`\ufeff${word('Hi')}${FINISH}${USAGE_CHUNK}${DONE}`)
    })
    const { statusCode, text } = await tenant.send(BODY)
    expect({ statusCode, text }).toStrictEqual({ statusCode: 200, text: asPublic(word('Hi') + FINISH + DONE) })
    expect(await tenant.settlement()).toMatchObject({ actual: COST })
  })

  it('relays an image of eight megabytes in one event', async () => {
    const event = word('x'.repeat(8 * 1024 * 1024))
    relay.answerWith((response) => sendStream(response, event, FINISH, USAGE_CHUNK, DONE))
    const { text } = await tenant.send(BODY)
    expect(text === asPublic(event + FINISH + DONE)).toBe(true)
  })

  it('is created from a complete reply if the upstream does not stream', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
    const message = { role: 'assistant', content: 'Hi', tool_calls: [call] }
    relay.answerWith((response) =>
      sendJson(response, chatAnswer({ choices: [{ index: 0, message, finish_reason: 'stop' }] })),
    )
    const { text, headers } = await tenant.send({ ...BODY, stream_options: { include_usage: true } })
    expect(headers['content-type']).toBe('text/event-stream')
    const [chunk, usage, done] = text.trim().split('\n\n')
    expect(JSON.parse(chunk?.slice(6) ?? '')).toMatchObject({
      object: 'chat.completion.chunk',
      model: CHAT,
      choices: [{ index: 0, delta: { ...message, tool_calls: [{ index: 0, ...call }] }, finish_reason: 'stop' }],
    })
    expect(JSON.parse(usage?.slice(6) ?? '')).toMatchObject({ choices: [], usage: USAGE })
    expect(done).toBe('data: [DONE]')
    expect(await tenant.settlement()).toMatchObject({ actual: COST })
  })

  it('applies the backpressure of a slow client to the upstream', async () => {
    const events = word('x'.repeat(10_000)).repeat(2_000)
    const stuck = Promise.withResolvers<void>()
    let waits = 0
    relay.answerWith(async (response) => {
      openStream(response)
      for (let sent = 0; sent < events.length; sent += 1_000_000) {
        if (!response.write(events.slice(sent, sent + 1_000_000))) {
          waits += 1
          stuck.resolve()
          await once(response, 'drain')
        }
      }
      response.end(`${FINISH}${DONE}`)
    })
    let held = false
    const read = async () => {
      if (!held) {
        held = true
        await stuck.promise
      }
    }
    const { text } = await tenant.send(BODY, { client: { read, highWaterMark: 16_384 } })
    expect(waits).toBeGreaterThan(0)
    expect(text).toBe(asPublic(events + FINISH + DONE))
  })
})

describe('relay streams clients', () => {
  let tenant: StreamingTenant

  beforeEach(async () => {
    tenant = await relay.openTenant()
  })
  afterEach(() => {
    jest.useRealTimers()
  })

  describe('a client that reads too slowly', () => {
    it('is billed before the timeout of the function, and gets an event that ends the response', async () => {
      jest.useFakeTimers({
        doNotFake: ['setInterval', 'setImmediate', 'nextTick', 'performance', 'queueMicrotask', 'Date'],
      })
      const first = word('x'.repeat(1_000_000))
      const begins = Promise.withResolvers<void>()
      const reads = Promise.withResolvers<void>()
      relay.answerWith(async (response) => {
        openStream(response).write(first)
        await begins.promise
        response.end(`${word('too late')}${FINISH}${USAGE_CHUNK}${DONE}`)
      })
      let pushTime: NodeJS.Timeout | undefined
      // The function's time passes once the client has begun to read: before, there would be nothing to bill.
      const read = (chunk: Buffer) => {
        if (pushTime === undefined && chunk.includes('xxx')) {
          begins.resolve()
          pushTime = setInterval(() => jest.advanceTimersByTime(1_000), 5)
          return reads.promise
        }
      }
      const running = tenant.send(BODY, {
        remainingMilliseconds: 100_000,
        client: { read, highWaterMark: 1_000 },
      })
      while ((await tenant.rows()).length === 0 || (await tenant.balance()).held !== '0') {
        await new Promise(setImmediate)
      }
      clearInterval(pushTime)
      expect(await tenant.settlement()).toMatchObject({ kind: 'settle', actual: COST })
      reads.resolve()
      const { text } = await running
      const error = {
        message: 'the answer took too long and ends here',
        type: 'server_error',
        param: null,
        code: 'answer_timeout',
      }
      expect(text).toBe(`${asPublic(first)}data: ${JSON.stringify({ error })}\n\n`)
      expect(await tenant.settlement()).toMatchObject({ kind: 'settle', actual: COST })
    })
  })

  describe('a client that leaves', () => {
    it('at the first word is billed once, by the usage at the end of the stream', async () => {
      const hasWord = Promise.withResolvers<void>()
      relay.answerWith(async (response) => {
        openStream(response).write(word('Hi'))
        await hasWord.promise
        setImmediate(() => response.end(`${word('there')}${FINISH}${USAGE_CHUNK}${DONE}`))
      })
      const read = (chunk: Buffer) => {
        if (chunk.includes('Hi')) {
          hasWord.resolve()
        }
      }
      const { hasLeft, text } = await tenant.send(BODY, { client: { read, leavesAfter: hasWord.promise } })
      expect(hasLeft).toBe(true)
      expect(text).not.toContain('there')
      expect(await tenant.settlement()).toMatchObject({ kind: 'settle', actual: COST })
    })

    it('is billed for the generated tokens if the usage does not arrive in time', async () => {
      jest.useFakeTimers({
        doNotFake: ['setInterval', 'setImmediate', 'nextTick', 'performance', 'queueMicrotask', 'Date'],
      })
      const closed = Promise.withResolvers<void>()
      relay.answerWith((response) => {
        openStream(response).write(word('Hi'))
        const pushTime = setInterval(() => jest.advanceTimersByTime(31_000), 20)
        response.on('close', () => {
          clearInterval(pushTime)
          closed.resolve()
        })
      })
      const running = tenant.send(BODY, { client: { leavesAfterBytes: 1 } })
      await closed.promise
      await running
      const row = await tenant.settlement()
      expect(row?.kind).toBe('settle')
      expect((row?.actual ?? 0n) > 0n).toBe(true)
    })
  })

  describe('a client that waits for the first word', () => {
    it('gets comments during the silence, then one error without [DONE] if the upstream fails, and pays nothing', async () => {
      jest.useFakeTimers({
        doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'performance', 'queueMicrotask', 'Date'],
      })
      const silent = Promise.withResolvers<void>()
      relay.answerWith(async (response) => {
        openStream(response).flushHeaders()
        await silent.promise
        response.end(DONE)
      })
      let isOpen = false
      const pushTime = () => {
        if (!isOpen) {
          jest.advanceTimersByTime(15_000)
          setImmediate(pushTime)
        }
      }
      pushTime()
      const read = () => {
        isOpen = true
        silent.resolve()
      }
      const { statusCode, text } = await tenant.send(BODY, { client: { read } })
      expect(statusCode).toBe(200)
      expect(text.replaceAll(': keep-alive\n\n', '')).toBe(`data: ${JSON.stringify(BROKEN)}\n\n`)
      expect(await tenant.settlement()).toMatchObject({ kind: 'release' })
    })
  })

  describe('a key revoked in the middle of a stream', () => {
    it('lets the stream end and settle, and is refused at the next request, priced or free', async () => {
      const revoked = Promise.withResolvers<void>()
      relay.answerWith(async (response) => {
        openStream(response).write(word('Hi'))
        await revoked.promise
        response.end(`${FINISH}${USAGE_CHUNK}${DONE}`)
      })
      const read = async (chunk: Buffer) => {
        if (chunk.includes('"Hi"')) {
          await revokeApiKey(relay.table, keyIdOf(tenant.key) ?? '', TESTER)
          revoked.resolve()
        }
      }
      const { text } = await tenant.send(BODY, { client: { read } })
      expect(text).toContain('[DONE]')
      expect(await tenant.settlement()).toMatchObject({ actual: COST })
      for (const body of [BODY, { ...BODY, model: FREE }, { ...BODY, model: 'nothing' }, { model: CHAT }]) {
        expect((await tenant.send(body)).statusCode).toBe(401)
      }
    })
  })
})

describe('relay streams failing upstreams', () => {
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
        openStream(response).write(`${word('Hi')}${chatEvent({ choices: [{}], usage: USAGE })}`, () =>
          response.destroy(),
        )
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
})
