import { describe, expect, it, jest } from '@jest/globals'
import { NoChannelAvailableError, RateLimitedError, UpstreamFailedError } from '#core/errors.ts'
import { errorBody, NOW, useCalling } from './calling.ts'
import { chunksOf } from './posting.ts'
import { CHUNKED_HEAD, chunkOf, httpAnswer, LAST_CHUNK, type RawRequest } from './raw-upstream.ts'

const { logged, counted, addChannel, addDeadChannel, call } = useCalling()

const answering = (text: string) => (request: RawRequest) => void request.socket.write(text)
const ok = answering(httpAnswer(200, '{"ok":true}', { 'X-Request-Id': 'upstream-1' }))

describe('a call of failover', () => {
  it('goes to the first channel with its key and its name of the model, and gives back the reply as it comes', async () => {
    const main = await addChannel('main', ok)
    const spare = await addChannel('spare', ok)
    const reply = await call()

    const { status, contentType, upstreamRequestId, attempts, channel } = reply
    expect({ status, contentType, upstreamRequestId, attempts, channel: channel.id }).toStrictEqual({
      status: 200,
      contentType: 'application/json',
      upstreamRequestId: 'upstream-1',
      attempts: 1,
      channel: 'main',
    })
    expect(await chunksOf(reply.body)).toStrictEqual(['{"ok":true}'])
    expect(main.requests[0]?.head).toMatch(/^POST \/v1\/chat\/completions /)
    expect(main.requests[0]?.head).toContain('authorization: Bearer secret-key-of-main')
    expect(main.requests[0]?.head).toContain('x-client-request-id: request-1')
    expect(main.requests[0]?.body).toBe('{"model":"upstream-chat","prompt":"secret words"}')
    expect(spare.requests).toHaveLength(0)
    expect(logged).toStrictEqual([])
  })

  it('takes no upstream request id that could flood a log', async () => {
    await addChannel('main', answering(httpAnswer(200, '{}', { 'X-Request-Id': 'x'.repeat(2_000) })))
    expect((await call()).upstreamRequestId).toBeUndefined()
  })
})

describe('when no channel took the request', () => {
  const busy = (retryAfter?: string) =>
    answering(httpAnswer(429, errorBody({}), retryAfter === undefined ? {} : { 'Retry-After': retryAfter }))

  it.each([
    ['the shortest wait that any asked for', ['30', '7', undefined], 7],
    ['one second when none said how long', [undefined, undefined], 1],
    ['one second at least', ['0'], 1],
    ['what a date comes to', [new Date(NOW + 42_000).toUTCString()], 42],
    ['an hour at most', ['86400'], 3_600],
  ])('all for being busy, the client is told %s', async (_, waits, seconds) => {
    for (const [index, wait] of waits.entries()) {
      await addChannel(`channel-${index}`, busy(wait))
    }
    await expect(call()).rejects.toMatchObject({ name: 'RateLimitedError', retryAfterSeconds: seconds })
  })

  it.each([
    ['a failure', httpAnswer(503)],
    ['an empty account', httpAnswer(429, errorBody({ code: 'insufficient_quota' }))],
  ])('and one of the reasons was %s, it is the upstreams’ failure', async (_, bytes) => {
    await addChannel('main', busy('5'))
    await addChannel('spare', answering(bytes))
    const failure = call()
    await expect(failure).rejects.toBeInstanceOf(UpstreamFailedError)
    await expect(failure).rejects.not.toBeInstanceOf(RateLimitedError)
  })

  it('because there is none, none is available', async () => {
    await expect(call({ modelId: 'other' })).rejects.toMatchObject({
      name: new NoChannelAvailableError(1).name,
      retryAfterSeconds: 1,
    })
  })
})

describe('all channels together', () => {
  it('are tried until the deadline of the request and no longer', async () => {
    await addChannel('main', answering(httpAnswer(500)))
    const spare = await addChannel('spare', ok)
    const realNow = performance.now.bind(performance)
    const clock = jest.spyOn(performance, 'now')
    clock.mockImplementation(() => realNow() + (logged.length === 0 ? 0 : 290_000))
    try {
      await expect(call()).rejects.toBeInstanceOf(UpstreamFailedError)
    } finally {
      clock.mockRestore()
    }
    expect(spare.requests).toHaveLength(0)
  })
})

describe('a client that left', () => {
  it('is not called for at all', async () => {
    const main = await addChannel('main', ok)
    await expect(call({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'ClientGoneError' })
    expect(main.sockets).toHaveLength(0)
  })

  it('is not called for a second time when the first channel failed meanwhile', async () => {
    const client = new AbortController()
    await addChannel('main', ({ socket }) => {
      client.abort()
      socket.write(httpAnswer(500))
    })
    const spare = await addChannel('spare', ok)
    await expect(call({ signal: client.signal })).rejects.toMatchObject({ name: 'ClientGoneError' })
    expect(spare.requests).toHaveLength(0)
  })

  it('still gets the reply of an upstream that had been sent the request', async () => {
    const client = new AbortController()
    await addChannel('main', ({ socket }) => {
      client.abort()
      socket.write(httpAnswer(200, 'paid for'))
    })
    const { body } = await call({ signal: client.signal })
    expect(await chunksOf(body)).toStrictEqual(['paid for'])
  })
})

describe('the log of failover', () => {
  it.each([401, 402, 403])(
    'counts a refusal of the gateway itself (%d), with the id that the upstream gave',
    async (status) => {
      await addChannel('main', answering(httpAnswer(status, errorBody({}), { 'X-Request-Id': 'upstream-7' })))
      await expect(call()).rejects.toBeInstanceOf(UpstreamFailedError)
      expect(counted()).toStrictEqual(['channel_refused'])
      expect(logged).toMatchObject([
        ['error', 'channel refused', { channelId: 'main', reason: `HTTP ${status}`, upstreamRequestId: 'upstream-7' }],
      ])
    },
  )

  it.each([408, 429, 500])('counts no refusal for %d', async (status) => {
    await addChannel('main', answering(httpAnswer(status)))
    await expect(call()).rejects.toThrow()
    expect(counted()).toStrictEqual([])
  })

  it('never holds keys, prompts, urls or what an upstream says', async () => {
    const secrets = errorBody({ message: 'secret key sk-1 of secret words', code: 'secret words with blanks' })
    await addChannel('main', answering(httpAnswer(401, secrets, { 'X-Request-Id': 'secret words' })))
    await addChannel('other', answering(httpAnswer(500, 'secret words'.repeat(10_000))))
    await addChannel('reset', ({ socket }) => socket.resetAndDestroy())
    await addDeadChannel('dead')
    const failure = await call().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UpstreamFailedError)
    expect(logged).toHaveLength(4)
    expect(JSON.stringify(logged)).not.toMatch(/secret|sk-1|127\.0\.0\.1|Bearer/)
    expect(String(failure)).not.toMatch(/secret|127\.0\.0\.1/)
  })
})

describe('a body that cannot be made', () => {
  it('fails the call with its own error and is not held against the channel', async () => {
    await addChannel('main', ok, { breaker: { failures: 1 } })
    const broken = new TypeError('not a body')
    await expect(
      call({
        write: () => {
          throw broken
        },
      }),
    ).rejects.toBe(broken)
    expect((await call()).status).toBe(200)
  })
})

describe('the stream of a called channel', () => {
  it('arrives piece by piece', async () => {
    const main = await addChannel('main', ({ socket }) => socket.write(CHUNKED_HEAD))
    const { body, contentType } = await call()
    expect(contentType).toBe('text/event-stream')
    for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
      main.requests[0]?.socket.write(chunkOf(piece))
      expect((await body.next()).value?.toString()).toBe(piece)
    }
    main.requests[0]?.socket.write(LAST_CHUNK)
    expect((await body.next()).done).toBe(true)
  })
})
