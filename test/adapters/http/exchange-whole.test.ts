import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exchangeWhole, type WholeLimits, type WholeRequest } from '#adapters/http/exchange-whole.ts'
import { createHttpClient, type HttpClient } from '#adapters/http/http-client.ts'

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
      expect(outcome).toEqual({ kind: 'no_response', reason: 'answer too large' })
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
