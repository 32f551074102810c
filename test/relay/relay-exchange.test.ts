import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { UpstreamFailedError } from '#core/errors.ts'
import { boundSilence, CallerChangedError } from '#lambdas/relay/relay-exchange.ts'
import { CHAT, chatAnswer, type RelayOperation, type RelayRig, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { fakeExchange } from './fake-exchange.ts'
import { FakeResponse } from './fake-response.ts'

const CALLER = { tenantId: 'acme', keyId: 'key', keyDigest: 'digest', models: null, revision: 1 }

describe('RelayExchange', () => {
  it('reads a key again that was not read for this request, and once only', async () => {
    const exchange = fakeExchange()
    let reads = 0
    const read = async () => {
      reads += 1
      return CALLER
    }
    exchange.authenticated(CALLER, { read, isCurrent: false })
    await exchange.confirmCaller()
    await exchange.confirmCaller()
    expect(reads).toBe(1)
  })

  it('begins again for a key that has changed since it was read', async () => {
    const exchange = fakeExchange()
    const changed = { ...CALLER, revision: 2 }
    exchange.authenticated(CALLER, { read: async () => changed, isCurrent: false })
    await expect(exchange.confirmCaller()).rejects.toThrow(CallerChangedError)
  })

  it('tells one failure only, and that a billed request is not to be retried', () => {
    const response = new FakeResponse()
    const exchange = fakeExchange({ response })
    exchange.tellFailure(new UpstreamFailedError(), { isBilled: true })
    exchange.tellFailure(new Error('another'), { isBilled: false })
    expect(response.head).toMatchObject({ statusCode: 502, headers: { 'x-should-retry': 'false' } })
    expect(response.ends).toBe(1)
  })

  it('keeps the channel that served the request when a later one refuses a call', () => {
    const exchange = fakeExchange()
    exchange.noteReply({ channel: { id: 'a' }, status: 200, attempts: 1 } as never)
    exchange.noteReply({ channel: { id: 'b' }, status: 429, attempts: 1 } as never)
    expect([exchange.channelId, exchange.facts.channelId]).toEqual(['a', 'b'])
  })
})

describe('boundSilence:', () => {
  /** The limit of a response through the front door. In a young process it is shorter. */
  const LIMIT_MILLISECONDS = 110_000
  const LIMIT_MILLISECONDS_MIN = 95_000

  const realTimer = globalThis.setTimeout
  let rig: RelayRig
  /** What happens when the limit has passed. */
  let limits: (() => void)[] = []

  beforeAll(async () => {
    rig = await startRelayRig({ channel: { timeouts: { first_byte_seconds: 280 } } })
  })
  afterAll(() => rig.close())
  beforeEach(() => {
    limits = []
    const timer = (callback: (...values: unknown[]) => void, milliseconds = 0, ...values: unknown[]) => {
      if (milliseconds > LIMIT_MILLISECONDS_MIN && milliseconds <= LIMIT_MILLISECONDS) {
        limits.push(callback)
        return undefined
      }
      return realTimer(callback, milliseconds, ...values)
    }
    Object.assign(globalThis, { setTimeout: timer })
  })
  afterEach(() => {
    Object.assign(globalThis, { setTimeout: realTimer })
  })

  const CHAT_BODY = { model: CHAT, messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }
  const THROUGH = { 'x-reelgate-front-door': 'a secret' }
  const REQUESTS: readonly [string, RelayOperation, object][] = [
    ['a chat', 'create-chat-completion', CHAT_BODY],
    ['a chat that is to be streamed', 'create-chat-completion', { ...CHAT_BODY, stream: true }],
    ['an image', 'create-image', { model: 'image-v2', prompt: 'hi' }],
  ]

  /** The upstream, once it was asked, replies after the limit of the front door. */
  function replyLate(body: object, status?: number): void {
    rig.upstreams[0]?.answerWith((response) => {
      for (const pass of limits) {
        pass()
      }
      sendJson(response, body, status)
    })
  }

  describe('a response through the front door', () => {
    it.each(REQUESTS)(
      'becomes a 504 that is not to be retried, before the front door gives up: %s',
      async (_, operation, body) => {
        replyLate(chatAnswer())
        const { statusCode, headers, text } = await rig.send(body, { operation, headers: THROUGH })
        expect({ statusCode, code: JSON.parse(text).error.code }).toEqual({ statusCode: 504, code: 'upstream_timeout' })
        expect(headers).toMatchObject({ 'x-should-retry': 'false' })
      },
    )

    it('is billed when the upstream replies after all', async () => {
      const { id, key } = await rig.tenant('1')
      replyLate(chatAnswer())
      expect((await rig.send(CHAT_BODY, { key, headers: THROUGH })).statusCode).toBe(504)
      const [row] = await rig.rows(id)
      expect(row).toMatchObject({ kind: 'settle' })
      const { held, spent } = await rig.balance(id)
      expect(held).toBe('0')
      expect(Number(spent)).toBeGreaterThan(0)
    })

    it('is free when the upstream refuses after all', async () => {
      const { id, key } = await rig.tenant('1')
      replyLate({ error: { message: 'no' } }, 422)
      expect((await rig.send(CHAT_BODY, { key, headers: THROUGH })).statusCode).toBe(504)
      expect(await rig.balance(id)).toEqual({ available: '1', held: '0', spent: '0' })
    })

    it('that has begun in time is complete', async () => {
      rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer()))
      expect((await rig.send(CHAT_BODY, { headers: THROUGH })).statusCode).toBe(200)
    })
  })

  describe('a response of the API’s own address', () => {
    it('is waited for as long as the configuration says', async () => {
      replyLate(chatAnswer())
      expect((await rig.send(CHAT_BODY)).statusCode).toBe(200)
    })
  })

  describe('a request that may have waited for the start of its process', () => {
    it.each([
      [400, 109_600],
      [10_000, 100_000],
      [14_999, 95_001],
      [15_000, 110_000],
      [3_600_000, 110_000],
    ])('in a process of %i ms ends after %i ms of silence', (age, limit) => {
      const timers: { callback: () => void; milliseconds: number }[] = []
      Object.assign(globalThis, {
        setTimeout: (callback: () => void, milliseconds: number) => timers.push({ callback, milliseconds }),
      })
      const [note, tellFailure, giveUp] = [jest.fn(), jest.fn(), jest.fn()]
      const request = { headerLines: () => ['a secret'] }
      boundSilence({ request, note, tellFailure } as never, { isOpen: false, giveUp }, age)
      expect(timers.map(({ milliseconds }) => milliseconds)).toEqual([limit])
      timers[0]?.callback()
      expect([tellFailure.mock.calls.length, giveUp.mock.calls.length]).toEqual([1, 1])
    })
  })
})
