import { getEventListeners } from 'node:events'
import { describe, expect, it, jest } from '@jest/globals'
import { answerOf, HASTY, POST_BODY, textOf, usePosting } from '../../relay/posting.ts'
import { CHUNKED_HEAD, httpAnswer, type RawRequest } from '../../relay/raw-upstream.ts'
import { listenTcp } from '../outbound/loopback.ts'

const { start, listen, post } = usePosting()

describe('a post', () => {
  it('says who asks, for what, and under which id, and nothing else', async () => {
    const upstream = await start(({ socket }) => socket.write(httpAnswer(200)))
    await textOf(post(upstream))

    const [request] = upstream.requests
    expect(request?.head.split('\r\n')).toStrictEqual([
      'POST /v1/chat/completions HTTP/1.1',
      'accept: application/json',
      'accept-encoding: identity',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(POST_BODY)}`,
      'user-agent: reelgate',
      'x-client-request-id: request-1',
      'authorization: Bearer secret-key',
      `Host: 127.0.0.1:${upstream.port}`,
      'Connection: keep-alive',
    ])
    expect(request?.body).toBe(POST_BODY)
  })

  it('sends no key where there is none', async () => {
    const upstream = await start(({ socket }) => socket.write(httpAnswer(200)))
    await textOf(post(upstream, { credential: '' }))
    expect(upstream.requests[0]?.head).not.toMatch(/authorization/i)
  })

  it('arrives whole when it is large', async () => {
    const upstream = await start(({ socket }) => socket.write(httpAnswer(200)))
    const body = 'x'.repeat(3_000_000)
    await textOf(post(upstream, { body }))
    await textOf(post(upstream, { body }))
    expect(upstream.requests.map((request) => request.body === body)).toStrictEqual([true, true])
    expect(upstream.sockets).toHaveLength(1)
  })
})

describe('nothing was sent', () => {
  it('when the connection is refused', async () => {
    const { origin, stop } = await listenTcp(() => {})
    await stop()
    expect(await post({ origin })).toStrictEqual({ kind: 'not_sent', reason: 'ECONNREFUSED' })
  })

  it('when TLS is not set up in time', async () => {
    const silent = await listen((socket) => socket.resume())
    const outcome = await post({ origin: `https://127.0.0.1:${silent.port}` }, { timeouts: HASTY })
    expect(outcome).toStrictEqual({ kind: 'not_sent', reason: 'connect timeout' })
    await silent.allClosed()
  })

  it.each(['simulator/v1', 'ftp://127.0.0.1/', 'http://', ''])('when %j is no url', async (url) => {
    expect(await post({ origin: '' }, { url })).toStrictEqual({ kind: 'not_sent', reason: 'ERR_INVALID_URL' })
  })

  it('when the key is one that HTTP cannot carry', async () => {
    const upstream = await start(({ socket }) => socket.write(httpAnswer(200)))
    const outcome = await post(upstream, { credential: 'secret\nkey' })
    expect(outcome).toStrictEqual({ kind: 'not_sent', reason: 'ERR_INVALID_CHAR' })
  })

  it('when the client has left before', async () => {
    const upstream = await start(() => {})
    expect(await post(upstream, { signal: AbortSignal.abort() })).toStrictEqual({ kind: 'aborted' })
    expect(upstream.sockets).toHaveLength(0)
  })

  it('when the client leaves while the connection is set up', async () => {
    const client = new AbortController()
    const silent = await listen(() => client.abort())
    const outcome = await post({ origin: `https://127.0.0.1:${silent.port}` }, { signal: client.signal })
    expect(outcome).toStrictEqual({ kind: 'aborted' })
    await silent.allClosed()
  })
})

describe('a client that leaves after the request was sent', () => {
  it('changes nothing, and no listener stays on its signal', async () => {
    const client = new AbortController()
    const upstream = await start(({ socket }) => {
      client.abort()
      socket.write(httpAnswer(200, 'whole'))
    })
    expect(await textOf(post(upstream, { signal: client.signal }))).toBe('whole')
    expect(getEventListeners(client.signal, 'abort')).toHaveLength(0)
  })
})

describe('a post that is given up', () => {
  it('closes its connection at once although the request was sent', async () => {
    const caller = new AbortController()
    const upstream = await start(() => caller.abort())
    expect(await post(upstream, { givenUp: caller.signal })).toStrictEqual({ kind: 'given_up' })
    await upstream.allClosed()
  })

  it('closes its connection at once while that is set up, too', async () => {
    const caller = new AbortController()
    const silent = await listen(() => caller.abort())
    const outcome = await post({ origin: `https://127.0.0.1:${silent.port}` }, { givenUp: caller.signal })
    expect(outcome).toStrictEqual({ kind: 'given_up' })
    await silent.allClosed()
  })

  it('is not sent when that was before, whatever else holds', async () => {
    const upstream = await start(() => {})
    const over = AbortSignal.abort()
    expect(await post(upstream, { givenUp: over, signal: over })).toStrictEqual({ kind: 'given_up' })
    expect(upstream.sockets).toHaveLength(0)
  })

  it('has no listener on its signal once there is an answer', async () => {
    const caller = new AbortController()
    const upstream = await start(({ socket }) => socket.write(httpAnswer(200, 'whole')))
    const { body } = await answerOf(post(upstream, { givenUp: caller.signal }))
    expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0)
    body.destroy()
  })
})

describe('no answer came', () => {
  it.each([
    ['the connection is reset', (socket: RawRequest['socket']) => void socket.resetAndDestroy(), 'ECONNRESET'],
    ['the upstream hangs up', (socket: RawRequest['socket']) => void socket.end(), 'ECONNRESET'],
    ['its head is cut', (socket: RawRequest['socket']) => void socket.end('HTTP/1.1 200 OK\r\nConte'), 'ECONNRESET'],
    ['it is not HTTP', (socket: RawRequest['socket']) => void socket.write('hello\r\n\r\n'), 'HPE_INVALID_CONSTANT'],
    [
      'it changes the protocol',
      (socket: RawRequest['socket']) =>
        void socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
      'connection closed',
    ],
    [
      'its head is a flood',
      (socket: RawRequest['socket']) => void socket.write(`HTTP/1.1 200 OK\r\n${'X-Flood: x\r\n'.repeat(50_000)}\r\n`),
      'HPE_HEADER_OVERFLOW',
    ],
  ])('when %s, and the connection is closed', async (_, act, reason) => {
    const upstream = await start(({ socket }) => act(socket))
    expect(await post(upstream)).toStrictEqual({ kind: 'no_answer', reason })
    expect(upstream.sockets).toHaveLength(1)
    await upstream.allClosed()
  })

  it('in time when the upstream is silent, and the connection is closed', async () => {
    const upstream = await start(() => {})
    expect(await post(upstream, { timeouts: HASTY })).toStrictEqual({ kind: 'first_byte_timeout' })
    await upstream.allClosed()
  })

  it('by the deadline when that is before the first-byte timeout, however long the connection took', async () => {
    const upstream = await start(() => {})
    const outcome = await post(upstream, { deadline: performance.now() + 50 })
    expect(outcome).toStrictEqual({ kind: 'first_byte_timeout' })
    await upstream.allClosed()
  })

  it('in time when there is nothing but informational heads', async () => {
    const upstream = await start(({ socket }) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 5)
      socket.once('close', () => clearInterval(timer))
    })
    expect(await post(upstream, { timeouts: HASTY })).toStrictEqual({ kind: 'first_byte_timeout' })
    await upstream.allClosed()
  })
})

describe('the pool', () => {
  const upstreamOfAnswers = () => start(({ socket }) => socket.write(httpAnswer(200, 'text')))

  it('uses one connection for posts that follow each other, whatever their paths', async () => {
    const upstream = await upstreamOfAnswers()
    for (const path of ['/v1/a', '/v1/b', '/v1/a']) {
      await textOf(post(upstream, { url: `${upstream.origin}${path}` }))
    }
    expect(upstream.sockets).toHaveLength(1)
    expect(upstream.requests.map(({ index }) => index)).toStrictEqual([1, 2, 3])
  })

  it('opens as many as there are posts at a time, and no more', async () => {
    const upstream = await upstreamOfAnswers()
    const round = () => Promise.all(Array.from({ length: 40 }, () => textOf(post(upstream))))
    await round()
    await round()
    expect(upstream.sockets).toHaveLength(40)
  })

  it('gets no connection of an answer that was destroyed', async () => {
    const upstream = await start(({ socket, connection }) =>
      socket.write(connection === 1 ? CHUNKED_HEAD : httpAnswer(200, 'text')),
    )
    const { body } = await answerOf(post(upstream))
    body.destroy()
    expect(await textOf(post(upstream))).toBe('text')
    expect(upstream.sockets).toHaveLength(2)
  })

  it('leaves no listener on a connection that is used again and again', async () => {
    const upstream = await upstreamOfAnswers()
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    for (let turn = 0; turn < 30; turn += 1) {
      await textOf(post(upstream))
    }
    await new Promise(setImmediate)
    process.off('warning', onWarning)
    expect(warnings).toStrictEqual([])
    expect(upstream.sockets).toHaveLength(1)
  })

  it('never hands the unasked answer of an idle connection to the next post', async () => {
    const upstream = await start(({ socket, connection }) => socket.write(httpAnswer(200, `answer ${connection}`)))
    await textOf(post(upstream))
    upstream.requests[0]?.socket.write(httpAnswer(200, 'poison'))
    await upstream.allClosed()
    expect(await textOf(post(upstream))).toBe('answer 2')
  })

  it('gives up the connection of an upstream that answers without reading the request', async () => {
    const server = await listen((socket) => {
      socket.once('data', () => {
        socket.pause()
        socket.write(httpAnswer(413, 'too large'))
      })
    })
    expect(await textOf(post(server, { body: 'x'.repeat(20_000_000) }))).toBe('too large')
    for (const socket of server.sockets) {
      // A side that does not read does not see the other leave, except by writing to it.
      const timer = setInterval(() => socket.write('x'), 20)
      socket.once('close', () => clearInterval(timer))
    }
    await server.allClosed()
  })
})

describe('a connection of the pool that the upstream had closed', () => {
  it.each([
    ['reset', (socket: RawRequest['socket']) => void socket.resetAndDestroy()],
    ['ended', (socket: RawRequest['socket']) => void socket.end()],
  ])('is replaced once when it is %s as the next post arrives', async (_, act) => {
    const upstream = await start(({ socket, connection, index }) =>
      connection === 1 && index === 2 ? act(socket) : socket.write(httpAnswer(200, `answer ${connection}`)),
    )
    await textOf(post(upstream))
    expect(await textOf(post(upstream))).toBe('answer 2')
    expect(upstream.requests).toHaveLength(3)
  })

  it('is replaced by a new one when all others were closed too', async () => {
    let isClosing = false
    const upstream = await start(({ socket, index }) =>
      isClosing && index > 1 ? socket.resetAndDestroy() : socket.write(httpAnswer(200, 'text')),
    )
    await Promise.all(Array.from({ length: 5 }, () => textOf(post(upstream))))
    isClosing = true
    expect(await textOf(post(upstream))).toBe('text')
    expect(upstream.requests).toHaveLength(7)
  })

  it('is not replaced a second time', async () => {
    const upstream = await start(({ socket, connection, index }) =>
      connection === 1 && index === 1 ? socket.write(httpAnswer(200)) : socket.resetAndDestroy(),
    )
    await textOf(post(upstream))
    expect(await post(upstream)).toStrictEqual({ kind: 'no_answer', reason: 'ECONNRESET' })
    expect(upstream.requests).toHaveLength(3)
  })

  it('is not replaced when a byte of an answer came', async () => {
    const upstream = await start(({ socket, index }) =>
      index === 1 ? socket.write(httpAnswer(200)) : socket.write('H', () => socket.end()),
    )
    await textOf(post(upstream))
    expect(await post(upstream)).toStrictEqual({ kind: 'no_answer', reason: 'ECONNRESET' })
    expect(upstream.requests).toHaveLength(2)
  })

  it('is not replaced when it broke half a second after the request, for its upstream may be at work', async () => {
    const now = performance.now.bind(performance)
    let passed = 0
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + passed)
    const upstream = await start(({ socket, index }) => {
      if (index === 1) {
        socket.write(httpAnswer(200))
      } else {
        passed = 500
        socket.resetAndDestroy()
      }
    })
    await textOf(post(upstream))
    expect(await post(upstream)).toStrictEqual({ kind: 'no_answer', reason: 'ECONNRESET' })
    clock.mockRestore()
    expect(upstream.requests).toHaveLength(2)
  })

  it.each([
    ['its first-byte timeout', undefined, 20_000],
    ['its deadline', 15_000, 15_000],
  ])('leaves the new one what is left of %s', async (_, remaining, bound) => {
    const now = performance.now.bind(performance)
    let passed = 0
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + passed)
    const upstream = await start(({ socket, connection, index }) => {
      if (connection === 1 && index === 2) {
        passed = 400
        socket.resetAndDestroy()
      } else {
        socket.write(httpAnswer(200))
      }
    })
    await textOf(post(upstream))
    const deadline = remaining === undefined ? undefined : performance.now() + remaining
    const timers = jest.spyOn(globalThis, 'setTimeout')
    await textOf(post(upstream, { deadline }))
    const waits = timers.mock.calls.map(([, milliseconds]) => milliseconds ?? 0)
    timers.mockRestore()
    clock.mockRestore()
    // Of the old connection the wait for its head; of the new one those for it, for its head, and between its pieces.
    expect(waits).toHaveLength(4)
    expect(Math.max(...waits.slice(1, 3))).toBeLessThanOrEqual(bound - 400)
    expect(Math.min(...waits.slice(1, 3))).toBeGreaterThan(bound - 5_000)
  })

  it('is not replaced when it was new', async () => {
    const upstream = await start(({ socket }) => socket.resetAndDestroy())
    await post(upstream)
    expect(upstream.requests).toHaveLength(1)
  })

  it('is not replaced when it was merely silent', async () => {
    const upstream = await start(({ socket, index }) => (index === 1 ? socket.write(httpAnswer(200)) : undefined))
    await textOf(post(upstream))
    expect(await post(upstream, { timeouts: HASTY })).toStrictEqual({ kind: 'first_byte_timeout' })
    expect(upstream.requests).toHaveLength(2)
  })
})

describe('what is told of a failure', () => {
  it('never holds a url, a key or a body', async () => {
    const upstream = await start(({ socket }) => socket.resetAndDestroy())
    const outcomes = [
      await post(upstream),
      await post({ origin: 'http://127.0.0.1:1' }),
      await post({ origin: 'secret:' }),
    ]
    expect(JSON.stringify(outcomes)).not.toMatch(/secret|127\.0\.0\.1/)
  })
})
