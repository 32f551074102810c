import { describe, expect, it, jest } from '@jest/globals'
import { UpstreamFailedError, UpstreamTimeoutError } from '#core/errors.ts'
import { NothingRelayedError, type UpstreamReply } from '#lambdas/relay/call-channel.ts'
import { ResponseBrokenError } from '#platform/http/response-body.ts'
import { errorBody, useCalling } from './calling.ts'
import { chunksOf } from './posting.ts'
import { CHUNKED_HEAD, chunkOf, httpAnswer, type RawRequest } from './raw-upstream.ts'

const { state, logged, counted, addChannel, addDeadChannel, call } = useCalling()

const answering = (text: string) => (request: RawRequest) => void request.socket.write(text)
const ok = answering(httpAnswer(200))

describe('the next channel is asked', () => {
  it.each([
    ['401', httpAnswer(401, errorBody({ code: 'invalid_api_key' })), 'HTTP 401 invalid_api_key'],
    ['402', httpAnswer(402, errorBody({ code: 'insufficient_balance' })), 'HTTP 402 insufficient_balance'],
    ['403', httpAnswer(403, 'no JSON'), 'HTTP 403'],
    ['404 of whatever is at a wrong base url', httpAnswer(404, '<html>404 Not Found</html>'), 'HTTP 404'],
    ['404 in JSON that is no error', httpAnswer(404, '{"message":"no Route matched"}'), 'HTTP 404'],
    ['407', httpAnswer(407, errorBody({})), 'HTTP 407'],
    ['408', httpAnswer(408, ''), 'HTTP 408'],
    ['429', httpAnswer(429, errorBody({ code: 'rate_limit_exceeded' })), 'HTTP 429 rate_limit_exceeded'],
    [
      '429 of an empty account',
      httpAnswer(429, errorBody({ code: 'insufficient_quota' })),
      'HTTP 429 insufficient_quota',
    ],
    [
      '400 of an empty account',
      httpAnswer(400, errorBody({ code: 'billing_hard_limit_reached' })),
      'HTTP 400 billing_hard_limit_reached',
    ],
    ['500', httpAnswer(500, errorBody({ code: 'server_error' })), 'HTTP 500 server_error'],
    ['502', httpAnswer(502, '<html>'), 'HTTP 502'],
    ['503', httpAnswer(503, errorBody({ code: 503 })), 'HTTP 503'],
    ['529', httpAnswer(529, ''), 'HTTP 529'],
    ['a redirect', httpAnswer(308, '', { Location: 'http://127.0.0.1:1/' }), 'HTTP 308'],
    ['a compressed reply', httpAnswer(200, 'x', { 'Content-Encoding': 'gzip' }), 'compressed reply'],
    ['a success without a body', 'HTTP/1.1 204 No Content\r\n\r\n', 'HTTP 204'],
    ['a success that has no body to read', httpAnswer(205, '{"ok":true}'), 'HTTP 205'],
    ['something else than HTTP', 'hello\r\n\r\n', 'HPE_INVALID_CONSTANT'],
  ])('after %s', async (_, bytes, reason) => {
    const main = await addChannel('main', answering(bytes))
    await addChannel('spare', ok)
    const reply = await call()

    expect({ status: reply.status, channel: reply.channel.id, attempts: reply.attempts }).toStrictEqual({
      status: 200,
      channel: 'spare',
      attempts: 2,
    })
    expect(main.requests).toHaveLength(1)
    expect(logged).toHaveLength(1)
    expect(logged[0]?.[2]).toStrictEqual({
      requestId: 'request-1',
      channelId: 'main',
      reason,
      upstreamRequestId: undefined,
    })
  })

  it('after a refused connection', async () => {
    await addDeadChannel('main')
    await addChannel('spare', ok)
    expect((await call()).channel.id).toBe('spare')
    expect(logged).toMatchObject([['warn', 'channel failed', { channelId: 'main', reason: 'ECONNREFUSED' }]])
  })

  it('after a connection that does not open in time', async () => {
    await addChannel('main', ok, { timeouts: { connect_seconds: 0.05 } })
    // TLS to something that waits for HTTP.
    const [main] = state.channels
    state.channels = main === undefined ? [] : [{ ...main, base_url: main.base_url.replace('http:', 'https:') }]
    await addChannel('spare', ok)
    expect((await call()).channel.id).toBe('spare')
    expect(logged).toMatchObject([['warn', 'channel failed', { reason: 'connect timeout' }]])
  })

  it('after a reset before the first byte', async () => {
    const main = await addChannel('main', ({ socket }) => socket.resetAndDestroy())
    await addChannel('spare', ok)
    expect((await call()).channel.id).toBe('spare')
    expect(main.requests).toHaveLength(1)
  })

  it('after a key that cannot be read, without asking the upstream', async () => {
    const main = await addChannel('main', ok)
    await addChannel('spare', ok)
    state.credential = async ({ id }) => {
      if (id === 'main') {
        throw new Error('secret-key of the vault')
      }
      return 'key'
    }
    expect((await call()).channel.id).toBe('spare')
    expect(main.sockets).toHaveLength(0)
    expect(logged).toMatchObject([['error', 'channel refused', { reason: 'credential not available' }]])
    expect(JSON.stringify(logged)).not.toContain('secret')
  })

  it('at most once for each of many, in their order', async () => {
    const upstreams = [
      await addChannel('one', answering(httpAnswer(500))),
      await addChannel('two', answering(httpAnswer(429))),
      await addChannel('three', ok),
    ]
    expect(await call()).toMatchObject({ channel: { id: 'three' }, attempts: 3 })
    expect(upstreams.map(({ requests }) => requests.length)).toStrictEqual([1, 1, 1])
  })

  it('and the one that replied and broke off before anything was relayed is left out', async () => {
    const main = await addChannel('main', ok)
    const spare = await addChannel('spare', ok)
    const unrelayed = (broken: readonly string[]) => async (reply: UpstreamReply) => {
      if (broken.includes(reply.channel.id)) {
        throw new NothingRelayedError()
      }
      return reply
    }
    expect(await call({}, unrelayed(['main']))).toMatchObject({ channel: { id: 'spare' }, attempts: 2 })
    expect([main.requests.length, spare.requests.length]).toStrictEqual([1, 1])
    await expect(call({}, unrelayed(['main', 'spare']))).rejects.toBeInstanceOf(UpstreamFailedError)
  })

  it('within a second although the error of the first does not end, whose connection is closed', async () => {
    const main = await addChannel('main', answering('HTTP/1.1 500 Reason\r\nContent-Length: 99\r\n\r\n{"error"'))
    await addChannel('spare', ok)
    expect((await call()).channel.id).toBe('spare')
    await main.allClosed()
  })

  it('after an error whose code comes later than its head', async () => {
    const body = errorBody({ code: 'insufficient_quota' })
    await addChannel('main', ({ socket }) => {
      socket.write(`HTTP/1.1 400 Reason\r\nContent-Length: ${body.length}\r\n\r\n`)
      setTimeout(() => socket.write(body), 50)
    })
    await addChannel('spare', ok)
    expect((await call()).channel.id).toBe('spare')
  })

  it('and the connection of a first one whose error came whole stays in the pool', async () => {
    const main = await addChannel('main', answering(httpAnswer(500, errorBody({}))))
    await addChannel('spare', ok)
    await chunksOf((await call()).body)
    await chunksOf((await call()).body)
    expect(main.requests.map(({ connection, index }) => [connection, index])).toStrictEqual([
      [1, 1],
      [1, 2],
    ])
  })
})

describe('no other channel is asked', () => {
  it('when an upstream that has the request does not begin to answer in time', async () => {
    const main = await addChannel('main', () => {}, { timeouts: { first_byte_seconds: 0.05 } })
    const spare = await addChannel('spare', ok)
    await expect(call()).rejects.toBeInstanceOf(UpstreamTimeoutError)
    expect(spare.requests).toHaveLength(0)
    expect(logged).toMatchObject([['warn', 'channel failed', { reason: 'first byte timeout' }]])
    await main.allClosed()
  })

  it.each([
    [400, errorBody({ code: 'context_length_exceeded', type: 'invalid_request_error' })],
    [400, errorBody({ code: 'content_policy_violation', message: 'Your request was rejected' })],
    [400, errorBody({ message: 'unknown value "insufficient balance"' })],
    [403, errorBody({ code: 'content_policy_violation' })],
    [404, errorBody({ code: 'model_not_found' })],
    [404, '{"error":"model not found"}'],
    [404, '{"code":"ModelNotExist","message":"no"}'],
    [409, ''],
    [413, '<html>'],
    [415, errorBody({})],
    [422, errorBody({ code: 422 })],
  ])('when it refuses the request itself: %d %s', async (status, body) => {
    await addChannel('main', answering(httpAnswer(status, body)))
    const spare = await addChannel('spare', ok)
    const reply = await call()
    expect({ status: reply.status, attempts: reply.attempts }).toStrictEqual({ status, attempts: 1 })
    expect((await chunksOf(reply.body)).join('')).toBe(body)
    expect(spare.requests).toHaveLength(0)
    expect({ logged, counted: counted() }).toStrictEqual({ logged: [], counted: [] })
  })

  it('when the time of the first call is over', async () => {
    const main = await addChannel('main', ok)
    const deadline = performance.now()
    await expect(call({ deadline })).rejects.toBeInstanceOf(UpstreamTimeoutError)
    expect(main.requests).toHaveLength(0)
    await addChannel('spare', ok)
    const clock = jest.spyOn(performance, 'now')
    const late = async () => {
      clock.mockReturnValue(Number.MAX_SAFE_INTEGER)
      throw new NothingRelayedError()
    }
    await expect(call({ deadline: performance.now() + 10_000 }, late)).rejects.toBeInstanceOf(UpstreamFailedError)
    clock.mockRestore()
    expect(main.requests).toHaveLength(1)
  })

  it('and an upstream that is slower than what is left of the time is not waited for', async () => {
    await addChannel('main', () => {})
    await expect(call({ deadline: performance.now() + 50 })).rejects.toBeInstanceOf(UpstreamTimeoutError)
  })

  it('when its reply breaks off after the first byte', async () => {
    await addChannel('main', ({ socket }) => socket.end(CHUNKED_HEAD + chunkOf('half')))
    const spare = await addChannel('spare', ok)
    const reply = await call()
    await expect(chunksOf(reply.body)).rejects.toBeInstanceOf(ResponseBrokenError)
    expect(spare.requests).toHaveLength(0)
  })
})

describe('a channel that was disabled during the request', () => {
  it('is not asked after a failure of the first one', async () => {
    await addChannel('main', (request) => {
      state.channels = state.channels.filter(({ id }) => id !== 'spare')
      request.socket.write(httpAnswer(500, errorBody({})))
    })
    const spare = await addChannel('spare', ok)
    await expect(call()).rejects.toThrow(UpstreamFailedError)
    expect(spare.requests).toHaveLength(0)
  })
})
