import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keyIdOf } from '#core/api-key.ts'
import { revokeApiKey } from '#store/keys/api-keys.ts'
import { CHAT, FREE } from '../engines/relay-rig.ts'
import { DONE, FINISH, openStream, USAGE_CHUNK, word } from '../engines/relay-upstream.ts'
import { TESTER } from '../engines/tester.ts'
import { useOpened } from '../engines/use-opened.ts'
import { asPublic, BODY, BROKEN, COST, type StreamingTenant, startStreamRelay } from './stream-relay.ts'

const relay = useOpened(startStreamRelay)
let tenant: StreamingTenant

beforeEach(async () => {
  tenant = await relay.openTenant()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a client that reads too slowly', () => {
  it('is billed before the timeout of the function, and gets an event that ends the response', async () => {
    vi.useFakeTimers({
      toNotFake: ['setInterval', 'setImmediate', 'nextTick', 'performance', 'queueMicrotask', 'Date'],
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
        pushTime = setInterval(() => vi.advanceTimersByTime(1_000), 5)
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
    vi.useFakeTimers({
      toNotFake: ['setInterval', 'setImmediate', 'nextTick', 'performance', 'queueMicrotask', 'Date'],
    })
    const closed = Promise.withResolvers<void>()
    relay.answerWith((response) => {
      openStream(response).write(word('Hi'))
      const pushTime = setInterval(() => vi.advanceTimersByTime(31_000), 20)
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
    vi.useFakeTimers({
      toNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'performance', 'queueMicrotask', 'Date'],
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
        vi.advanceTimersByTime(15_000)
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
