import { describe, expect, it, vi } from 'vitest'
import { answerOf, HASTY, textOf, usePosting } from '../../relay/posting.ts'
import { CHUNKED_HEAD, httpAnswer, type RawRequest } from '../../relay/raw-upstream.ts'

const { start, listen, post } = usePosting()

describe('the pool of a client', () => {
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
    expect(await post(upstream)).toStrictEqual({ kind: 'no_response', reason: 'ECONNRESET' })
    expect(upstream.requests).toHaveLength(3)
  })

  it('is not replaced when a byte of an answer came', async () => {
    const upstream = await start(({ socket, index }) =>
      index === 1 ? socket.write(httpAnswer(200)) : socket.write('H', () => socket.end()),
    )
    await textOf(post(upstream))
    expect(await post(upstream)).toStrictEqual({ kind: 'no_response', reason: 'ECONNRESET' })
    expect(upstream.requests).toHaveLength(2)
  })

  it('is not replaced when it broke half a second after the request, for its upstream may be at work', async () => {
    const now = performance.now.bind(performance)
    let passed = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passed)
    const upstream = await start(({ socket, index }) => {
      if (index === 1) {
        socket.write(httpAnswer(200))
      } else {
        passed = 500
        socket.resetAndDestroy()
      }
    })
    await textOf(post(upstream))
    expect(await post(upstream)).toStrictEqual({ kind: 'no_response', reason: 'ECONNRESET' })
    clock.mockRestore()
    expect(upstream.requests).toHaveLength(2)
  })

  it.each([
    ['its first-byte timeout', undefined, 20_000],
    ['its deadline', 15_000, 15_000],
  ])('leaves the new one what is left of %s', async (_, remaining, bound) => {
    const now = performance.now.bind(performance)
    let passed = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passed)
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
    const timers = vi.spyOn(globalThis, 'setTimeout')
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
