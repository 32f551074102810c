import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import {
  createHttpClient,
  exchangeWhole,
  type HttpClient,
  type WholeLimits,
  type WholeRequest,
} from '#platform/http/http-client.ts'
import { answerOf, HASTY, textOf, usePosting } from '../../relay/posting.ts'
import { CHUNKED_HEAD, httpAnswer, type RawRequest } from '../../relay/raw-upstream.ts'

describe('createHttpClient:', () => {
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
})

/** What the far end does with the n-th request of its n-th connection (both from 1), once all of the request is there. */
type Behaviour = (socket: Socket, request: { readonly connection: number; readonly index: number }) => void

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
const BODY = '{"prompt":"secret words"}'

const OWN: WholeLimits = {
  connectMilliseconds: 5_000,
  totalMilliseconds: 25_000,
  bytesMax: 1_048_576,
  connection: 'own',
}
const POOLED: WholeLimits = { ...OWN, connection: 'pooled' }

describe('exchangeWhole', () => {
  let client: HttpClient
  let server: Server
  let sockets: Set<Socket>
  let received: string[]
  let connections: number

  beforeEach(() => {
    client = createHttpClient()
    sockets = new Set()
    received = []
    connections = 0
  })

  afterEach(async () => {
    client.close()
    if (server?.listening) {
      for (const socket of sockets) {
        socket.destroy()
      }
      server.close()
      await once(server, 'close')
    }
  })

  /** A TCP server on a free port, and what it does with each piece of what it receives. */
  async function listenForBytes(onConnection: (socket: Socket) => (text: string) => void): Promise<number> {
    server = createServer((socket) => {
      const onText = onConnection(socket)
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1')
        received.push(text)
        onText(text)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** As {@link listenForBytes}, by whole requests. Without behaviour it accepts and stays silent. */
  const listen = (behaviour: Behaviour = () => {}): Promise<number> =>
    listenForBytes((socket) => {
      connections += 1
      const connection = connections
      let index = 0
      return (text) => {
        if (text.endsWith(BODY) || text.endsWith('\r\n\r\n')) {
          index += 1
          behaviour(socket, { connection, index })
        }
      }
    })

  const send = (request: WholeRequest) => exchangeWhole(client, request)
  const submit = (port: number, fields: Partial<WholeRequest> = {}): WholeRequest => ({
    limits: OWN,
    method: 'POST',
    url: `http://127.0.0.1:${port}/secret-path`,
    headers: { Authorization: 'Bearer secret-key', 'Content-Length': String(Buffer.byteLength(fields.body ?? BODY)) },
    body: BODY,
    ...fields,
  })
  const poll = (port: number): WholeRequest => ({
    limits: POOLED,
    method: 'GET',
    url: `http://127.0.0.1:${port}/`,
    headers: {},
  })
  const hasty = { limits: { ...OWN, totalMilliseconds: 60 } }

  describe('nothing was sent', () => {
    it('when the connection is refused', async () => {
      const port = await listen()
      server.close()
      await once(server, 'close')
      expect(await send(submit(port))).toEqual({ kind: 'not_sent', reason: 'ECONNREFUSED' })
    })

    it('when TLS meets something that is not TLS', async () => {
      const port = await listenForBytes((socket) => () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
      const outcome = await send(submit(0, { url: `https://127.0.0.1:${port}/` }))

      expect(outcome.kind).toBe('not_sent')
      expect(received.join('')).not.toContain('secret')
    })

    it('when TLS is not set up in time', async () => {
      const port = await listen()
      const limits = { ...OWN, connectMilliseconds: 60 }
      const outcome = await send(submit(port, { url: `https://127.0.0.1:${port}/`, limits }))
      expect(outcome).toEqual({ kind: 'not_sent', reason: 'connect timeout' })
    })

    it.each(['simulator/api', 'ftp://127.0.0.1/', 'http://', ''])('when %j is no url', async (url) => {
      expect(await send(submit(0, { url }))).toEqual({ kind: 'not_sent', reason: 'ERR_INVALID_URL' })
    })
  })

  describe('no whole response came', () => {
    it('when the connection is reset after the body', async () => {
      const port = await listen((socket) => socket.resetAndDestroy())
      expect(await send(submit(port))).toEqual({ kind: 'no_response', reason: 'ECONNRESET' })
      expect(connections).toBe(1)
    })

    it('when the connection is reset before the body was read', async () => {
      const port = await listenForBytes((socket) => () => socket.resetAndDestroy())
      expect(await send(submit(port, { body: 'x'.repeat(8_000_000) }))).toMatchObject({ kind: 'no_response' })
    })

    it('when the far end hangs up', async () => {
      const port = await listen((socket) => socket.end())
      expect(await send(submit(port))).toEqual({ kind: 'no_response', reason: 'ECONNRESET' })
    })

    it('when the far end stays silent', async () => {
      const port = await listen()
      expect(await send(submit(port, hasty))).toEqual({ kind: 'no_response', reason: 'timeout' })
    })

    it('when the answer is slow to end', async () => {
      const port = await listen((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"id":'))
      expect(await send(submit(port, hasty))).toEqual({ kind: 'no_response', reason: 'timeout' })
    })

    it.each([
      ['counted', 'Content-Length: 100\r\n\r\n{"id":"t"}'],
      ['chunked', 'Transfer-Encoding: chunked\r\n\r\na\r\n{"id":"t"}\r\n'],
    ])('when a %s answer is cut short', async (_, rest) => {
      const port = await listen((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`))
      expect(await send(submit(port))).toMatchObject({ kind: 'no_response' })
    })

    it('when the answer is larger than its bound, and reads no further', async () => {
      const port = await listen((socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(65_536)}`))
      const outcome = await send(submit(port, { limits: { ...OWN, bytesMax: 1_000 } }))
      expect(outcome).toEqual({ kind: 'no_response', reason: 'reply too large' })
    })

    it.each([
      ['no HTTP', 'hello\r\n\r\n'],
      ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'],
    ])('when it is %s', async (_, bytes) => {
      const port = await listen((socket) => socket.write(bytes))
      expect(await send(submit(port))).toMatchObject({ kind: 'no_response' })
    })

    it('in no reason is a url, a key or a body', async () => {
      const port = await listen((socket) => socket.resetAndDestroy())
      const outcomes = [await send(submit(port)), await send(submit(1)), await send(submit(0, { url: 'secret:' }))]
      expect(JSON.stringify(outcomes)).not.toMatch(/secret|127\.0\.0\.1/)
    })
  })

  describe('a response', () => {
    it('of exactly the bound is whole', async () => {
      const port = await listen((socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345`))
      expect(await send(submit(port, { limits: { ...OWN, bytesMax: 5 } }))).toMatchObject({
        kind: 'response',
        text: '12345',
      })
    })

    it('keeps every byte, however they arrive', async () => {
      const text = '\ufeff {"n": 5.0, "t": "字😀\\u0000"}\r\n'
      const port = await listen(async (socket) => {
        socket.setNoDelay(true)
        socket.write(`HTTP/1.1 201 Created\r\nRetry-After: 3\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`)
        for (const byte of Buffer.from(text)) {
          await new Promise((resolve) => socket.write(Buffer.of(byte), resolve))
        }
      })
      expect(await send(submit(port))).toMatchObject({
        kind: 'response',
        status: 201,
        headers: { 'retry-after': '3' },
        text,
      })
    })

    it('may be a redirect, which is not followed', async () => {
      const port = await listen((socket) =>
        socket.write('HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n'),
      )
      expect(await send(submit(port))).toMatchObject({ kind: 'response', status: 307, text: '' })
      expect(connections).toBe(1)
    })
  })

  describe('connections', () => {
    it('of the pool are kept between requests', async () => {
      const port = await listen((socket) => socket.write(OK))
      expect(await send(poll(port))).toMatchObject({ status: 200 })
      expect(await send(poll(port))).toMatchObject({ status: 200 })
      expect(connections).toBe(1)
    })

    it('of their own are shared with no other request', async () => {
      const port = await listen((socket) => socket.write(OK))
      await send(poll(port))
      await send(submit(port))
      await send(submit(port))
      expect(connections).toBe(3)
    })

    it('of the pool that went stale cost one more try', async () => {
      const port = await listen((socket, { connection, index }) =>
        connection === 1 && index === 2 ? socket.resetAndDestroy() : socket.write(OK),
      )
      await send(poll(port))
      expect(await send(poll(port))).toMatchObject({ kind: 'response', status: 200 })
      expect({ connections, requests: received.length }).toEqual({ connections: 2, requests: 3 })
    })

    it('that break twice end the exchange', async () => {
      const port = await listen((socket, { connection, index }) =>
        connection === 1 && index === 1 ? socket.write(OK) : socket.resetAndDestroy(),
      )
      await send(poll(port))
      expect(await send(poll(port))).toEqual({ kind: 'no_response', reason: 'ECONNRESET' })
      expect(connections).toBe(2)
    })

    it('that break at first use are not tried again', async () => {
      const port = await listen((socket) => socket.resetAndDestroy())
      expect(await send(poll(port))).toEqual({ kind: 'no_response', reason: 'ECONNRESET' })
      expect(connections).toBe(1)
    })
  })
})
