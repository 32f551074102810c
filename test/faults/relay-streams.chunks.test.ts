import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CHAT } from '../engines/relay-rig.ts'
import {
  chatAnswer,
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
import { asPublic, BODY, COST, ROLE, type StreamingTenant, startStreamRelay } from './stream-relay.ts'

const relay = useOpened(startStreamRelay)
let tenant: StreamingTenant

beforeEach(async () => {
  tenant = await relay.openTenant()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a stream in unusual chunks', () => {
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
    vi.useFakeTimers({
      toNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'performance', 'queueMicrotask', 'Date'],
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
          vi.advanceTimersByTime(240_000)
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
