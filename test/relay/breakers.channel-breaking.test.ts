import { describe, expect, it } from '@jest/globals'
import { errorBody, NOW, useCalling } from './calling.ts'
import { fakeExchange } from './fake-exchange.ts'
import { chunksOf } from './posting.ts'
import { CHUNKED_HEAD, chunkOf, httpAnswer, type RawRequest } from './raw-upstream.ts'

const { state, logged, counted, addChannel, call } = useCalling()

const answering = (text: string) => (request: RawRequest) => void request.socket.write(text)
const ok = answering(httpAnswer(200))
const breaker = { failures: 3, pause_seconds: 10 }

/** What an operator is shown of a channel. */
const shown = (id = 'main') => state.breakers.shownState({ id }, state.nowMilliseconds)

/** Calls and reads the answer to its end; the name of the error when there is none. */
async function finish(members?: Parameters<typeof call>[0]): Promise<number | string> {
  try {
    const { status, body } = await call(members)
    await chunksOf(body)
    return status
  } catch (error) {
    return error instanceof Error ? error.name : 'unknown'
  }
}

async function times(count: number, members?: Parameters<typeof call>[0]): Promise<(number | string)[]> {
  const results: (number | string)[] = []
  for (let turn = 0; turn < count; turn += 1) {
    results.push(await finish(members))
  }
  return results
}

describe('a channel that fails again and again', () => {
  it('is left alone for its pause, tried once, and used again when it has recovered', async () => {
    let answer = httpAnswer(500)
    const main = await addChannel('main', ({ socket }) => socket.write(answer), { breaker })
    const spare = await addChannel('spare', ok)

    expect(await times(5)).toStrictEqual([200, 200, 200, 200, 200])
    expect({ main: main.requests.length, spare: spare.requests.length }).toStrictEqual({ main: 3, spare: 5 })

    const opened = () => counted().filter((fact) => fact === 'breaker_opened').length
    state.nowMilliseconds = NOW + 9_999
    await finish()
    expect([main.requests.length, opened()]).toStrictEqual([3, 1])

    state.nowMilliseconds = NOW + 10_000
    await times(3)
    expect([main.requests.length, opened()]).toStrictEqual([4, 2])

    answer = httpAnswer(200)
    state.nowMilliseconds = NOW + 20_000
    await times(3)
    expect({ main: main.requests.length, spare: spare.requests.length }).toStrictEqual({ main: 7, spare: 9 })
  })

  it('is shown as open as long as its tenant is kept out, and as closed after the pause', async () => {
    await addChannel('main', answering(httpAnswer(500)), { breaker })
    await addChannel('spare', ok)
    await times(3)
    state.nowMilliseconds = NOW + 9_999
    expect(shown()).toBe('open')
    state.nowMilliseconds = NOW + 10_000
    expect(shown()).toBe('closed')
  })

  it('is tried anyway where it is the only one of its model, and opens its breaker once a pause', async () => {
    let answer = httpAnswer(500)
    const main = await addChannel('main', ({ socket }) => socket.write(answer), { breaker })
    expect(await times(6)).toStrictEqual(Array.from({ length: 6 }, () => 'UpstreamFailedError'))
    answer = httpAnswer(200)
    expect(await finish()).toBe(200)
    expect(main.requests).toHaveLength(7)
    expect(counted().filter((fact) => fact === 'breaker_opened')).toHaveLength(1)
  })

  it('is out with all others, and the client is told of the one that comes back first', async () => {
    await addChannel('main', answering(httpAnswer(500)), { breaker: { failures: 1, pause_seconds: 60 } })
    await addChannel('spare', answering(httpAnswer(500)), { breaker: { failures: 1, pause_seconds: 5 } })
    expect(await times(1)).toStrictEqual(['UpstreamFailedError'])
    state.nowMilliseconds = NOW + 2_500
    await expect(call()).rejects.toMatchObject({ name: 'NoChannelAvailableError', retryAfterSeconds: 3 })
  })

  it('keeps requests that would try it too elsewhere for two seconds', async () => {
    const held: RawRequest[] = []
    const main = await addChannel(
      'main',
      (request) => {
        held.push(request)
        if (held.length === 1) {
          request.socket.write(httpAnswer(500))
        }
      },
      { breaker: { failures: 1, pause_seconds: 10 } },
    )
    const spare = await addChannel('spare', ok)
    await finish()
    state.nowMilliseconds = NOW + 10_000
    const trial = finish()
    while (held.length < 2) {
      await new Promise(setImmediate)
    }
    expect(await times(4)).toStrictEqual([200, 200, 200, 200])
    expect({ main: main.requests.length, spare: spare.requests.length }).toStrictEqual({ main: 2, spare: 5 })
    state.nowMilliseconds = NOW + 12_000
    const second = finish()
    while (held.length < 3) {
      await new Promise(setImmediate)
    }
    held[2]?.socket.write(httpAnswer(200))
    expect(await second).toBe(200)
    held[1]?.socket.write(httpAnswer(200))
    expect(await trial).toBe(200)
  })

  it('keeps nobody out while the stream of its trial is under way', async () => {
    let answer = httpAnswer(500)
    const main = await addChannel('main', ({ socket }) => socket.write(answer), {
      breaker: { ...breaker, failures: 1 },
    })
    await finish()
    state.nowMilliseconds = NOW + 10_000
    answer = CHUNKED_HEAD
    const { body } = await call()
    answer = httpAnswer(200)
    expect(await times(2)).toStrictEqual([200, 200])
    expect(main.requests).toHaveLength(4)
    body.destroy()
  })
})

describe('a tenant whose requests fail at every channel', () => {
  const of = (tenantId: string) => ({ exchange: fakeExchange({ tenantId }) })
  let isDown = true
  const answer = ({ socket }: RawRequest) => socket.write(httpAnswer(isDown ? 500 : 200))

  it('is kept out alone, and the others are served', async () => {
    await addChannel('main', answer, { breaker })
    await addChannel('spare', answer, { breaker })
    isDown = true
    await times(30, of('noisy'))
    expect(await finish(of('noisy'))).toBe('NoChannelAvailableError')
    isDown = false
    expect(await times(3, of('quiet'))).toStrictEqual([200, 200, 200])
    expect(await finish(of('noisy'))).toBe('NoChannelAvailableError')
  })

  it('is joined by another tenant, and everybody is kept out', async () => {
    await addChannel('main', answer, { breaker })
    await addChannel('spare', answer, { breaker })
    isDown = true
    await times(3, of('noisy'))
    await finish(of('other'))
    isDown = false
    expect(await finish(of('quiet'))).toBe('NoChannelAvailableError')
  })

  it('is one of more tenants than a process remembers, and is forgotten before those that failed since', async () => {
    await addChannel('main', answer, { breaker: { failures: 1, pause_seconds: 10 } })
    const [channel] = state.channels
    const admit = (tenantId: string) => channel && state.breakers.admit(channel, { tenantId, nowMilliseconds: NOW })
    for (let tenant = 0; tenant <= 1_000; tenant += 1) {
      admit(`tenant-${tenant}`)?.failed(NOW)
      // A success of somebody else keeps the channel open for all.
      admit('healthy')?.completed()
    }
    expect([admit('tenant-1000'), admit('tenant-1')]).toStrictEqual([undefined, undefined])
    expect(admit('tenant-0')).toBeDefined()
  })
})

describe('what counts against a channel', () => {
  it.each([
    ['401', answering(httpAnswer(401))],
    ['402', answering(httpAnswer(402))],
    ['403', answering(httpAnswer(403))],
    ['408', answering(httpAnswer(408))],
    ['an empty account', answering(httpAnswer(429, '{"error":{"code":"insufficient_quota"}}'))],
    ['500', answering(httpAnswer(500))],
    ['a reset', ({ socket }: RawRequest) => void socket.resetAndDestroy()],
    ['a first-byte timeout', () => {}],
    ['a stream that breaks off', ({ socket }: RawRequest) => void socket.end(CHUNKED_HEAD + chunkOf('half'))],
    ['a stream that falls silent', answering(CHUNKED_HEAD + chunkOf('half'))],
  ])('%s', async (_, answer) => {
    const timeouts = { first_byte_seconds: 0.03, idle_seconds: 0.03 }
    const main = await addChannel('main', answer, { breaker, timeouts })
    await addChannel('spare', ok)
    await times(3)
    expect(await finish()).toBe(200)
    expect(main.requests).toHaveLength(3)
  })

  it('a key that cannot be read', async () => {
    const main = await addChannel('main', ok, { breaker })
    await addChannel('spare', ok)
    state.credential = () => Promise.reject(new Error('no entry'))
    await times(3)
    state.credential = async () => 'key'
    expect(await finish()).toBe(200)
    expect(main.requests).toHaveLength(0)
  })

  it('a stream that its reader finds broken, before or after its last byte', async () => {
    const main = await addChannel('main', ok, { breaker })
    await addChannel('spare', ok)
    for (const isLate of [false, true, true]) {
      const { body, failed } = await call()
      if (!isLate) {
        failed('no_end')
      }
      await chunksOf(body)
      failed('no_end')
      failed('no_end')
    }
    expect(await finish()).toBe(200)
    expect(main.requests).toHaveLength(3)
  })
})

describe('what does not count against a channel', () => {
  it.each([
    ['400', answering(httpAnswer(400)), 400],
    ['404 with an error', answering(httpAnswer(404, errorBody({}))), 404],
    ['429', answering(httpAnswer(429)), 'RateLimitedError'],
  ])('%s', async (_, answer, result) => {
    await addChannel('main', answer, { breaker })
    expect(await times(10)).toStrictEqual(Array.from({ length: 10 }, () => result))
    expect(shown()).toBe('closed')
  })

  it('a client that leaves its reply', async () => {
    await addChannel('main', answering(CHUNKED_HEAD + chunkOf('one')), { breaker })
    for (let turn = 0; turn < 5; turn += 1) {
      const { body } = await call()
      await body.next()
      body.destroy()
    }
    expect(shown()).toBe('closed')
  })

  it('a call that was given up while its upstream was silent, of which no log line tells either', async () => {
    const caller = new AbortController()
    const main = await addChannel('main', (request) => (caller.signal.aborted ? ok(request) : caller.abort()), {
      breaker: { failures: 1, pause_seconds: 10 },
    })
    const spare = await addChannel('spare', ok)
    await expect(call({ givenUp: caller.signal })).rejects.toMatchObject({ name: 'CallGivenUpError' })
    await main.allClosed()
    expect(logged).toStrictEqual([])
    expect(await call()).toMatchObject({ status: 200, channel: { id: 'main' } })
    expect(spare.requests).toHaveLength(0)
  })

  it('failures with a stream between them that is complete for its reader, though its connection lingers', async () => {
    const answers = [httpAnswer(500), httpAnswer(500), CHUNKED_HEAD + chunkOf('data: [DONE]')]
    const main = await addChannel('main', ({ socket }) => socket.write(answers.shift() ?? httpAnswer(500)), { breaker })
    await times(2)
    const { body, completed } = await call()
    await body.next()
    completed()
    body.destroy()
    await times(2)
    expect(main.requests).toHaveLength(5)
    expect(shown()).toBe('closed')
    await finish()
    expect(shown()).toBe('open')
  })

  it('a connection that breaks after the reply was complete for its reader', async () => {
    const main = await addChannel('main', answering(CHUNKED_HEAD + chunkOf('data: [DONE]')), { breaker })
    for (let turn = 0; turn < 4; turn += 1) {
      const { body, completed } = await call()
      await body.next()
      completed()
      main.requests.at(-1)?.socket.resetAndDestroy()
      await expect(body.next()).rejects.toThrow()
    }
    expect(shown()).toBe('closed')
  })

  it('failures with a whole reply, or a refusal of the request, between them', async () => {
    const statuses = [500, 500, 200, 500, 500, 400, 500, 500, 200]
    const main = await addChannel('main', ({ socket }) => socket.write(httpAnswer(statuses.shift() ?? 200)), {
      breaker,
    })
    await times(9)
    expect(shown()).toBe('closed')
    expect(main.requests).toHaveLength(9)
  })

  it('being busy, nor does that end a row of failures', async () => {
    const statuses = [500, 429, 500, 429, 500]
    await addChannel('spare', ok, { priority: 1 })
    const main = await addChannel('main', ({ socket }) => socket.write(httpAnswer(statuses.shift() ?? 200)), {
      breaker,
      priority: 0,
    })
    await times(6)
    expect(main.requests).toHaveLength(5)
  })
})

describe('a trial that tells nothing', () => {
  it.each([
    ['the channel asks for patience', {}, httpAnswer(429)],
    [
      'the body cannot be made',
      {
        write: () => {
          throw new TypeError('no body')
        },
      },
      httpAnswer(200),
    ],
  ])('frees its place: %s', async (_, members, bytes) => {
    let answer = httpAnswer(500)
    const main = { failures: 1, pause_seconds: 10 }
    await addChannel('main', ({ socket }) => socket.write(answer), { breaker: main })
    await addChannel('down', answering(httpAnswer(500)), { breaker: { ...main, pause_seconds: 60 } })
    await finish()
    state.nowMilliseconds = NOW + 10_000
    answer = bytes
    await finish(members)
    answer = httpAnswer(200)
    expect(await finish()).toBe(200)
  })
})

describe('the requests of a session', () => {
  it('stay with one channel, move while it is out, and come back', async () => {
    let isDown = false
    const down = ({ socket }: RawRequest) => socket.write(httpAnswer(isDown ? 500 : 200))
    const members = { priority: 0, breaker: { failures: 1, pause_seconds: 10 } }
    for (const id of ['one', 'two', 'three']) {
      await addChannel(id, ok, members)
    }
    const channelOf = async (sessionId: string) => {
      const { channel, body } = await call({ exchange: fakeExchange({ headers: { 'x-session-id': sessionId } }) })
      await chunksOf(body)
      return channel.id
    }
    const sessions = Array.from({ length: 30 }, (_, index) => `session-${index}`)
    const placed = new Map<string, string>()
    for (const session of sessions) {
      placed.set(session, await channelOf(session))
    }
    expect(new Set(placed.values())).toStrictEqual(new Set(['one', 'two', 'three']))

    state.channels = state.channels.filter(({ id }) => id !== 'two')
    await addChannel('two', down, members)
    isDown = true
    for (const session of sessions) {
      const home = placed.get(session)
      const now = await channelOf(session)
      expect(now === home).toBe(home !== 'two')
    }
    isDown = false
    state.nowMilliseconds = NOW + 10_000
    for (const session of sessions) {
      expect(await channelOf(session)).toBe(placed.get(session))
    }
  })

  it('are spread by chance where there is no session', async () => {
    for (const id of ['one', 'two']) {
      await addChannel(id, ok, { priority: 0 })
    }
    const draws = [0.9, 0.1, 0.1, 0.9]
    state.random = () => draws.shift() ?? 0.5
    const ids: string[] = []
    for (let turn = 0; turn < 2; turn += 1) {
      const { channel, body } = await call()
      await chunksOf(body)
      ids.push(channel.id)
    }
    expect(ids).toStrictEqual(['two', 'one'])
  })
})
