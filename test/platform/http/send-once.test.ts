import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createHttpClient, type HttpClient } from '#platform/http/http-client.ts'
import { type HttpRequest, retryAfterSeconds } from '#platform/http/send-once.ts'
import { answerOf, HASTY, textOf, usePosting } from '../../relay/posting.ts'
import { httpAnswer, type RawRequest, type RawUpstream, startRawUpstream } from '../../relay/raw-upstream.ts'
import { listenTcp } from './loopback.ts'

describe('sendOnce:', () => {
  const { start, listen, post } = usePosting()

  describe('a request', () => {
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

    it('has no listener on its signal once there is a reply', async () => {
      const caller = new AbortController()
      const upstream = await start(({ socket }) => socket.write(httpAnswer(200, 'whole')))
      const { body } = await answerOf(post(upstream, { givenUp: caller.signal }))
      expect(getEventListeners(caller.signal, 'abort')).toHaveLength(0)
      body.destroy()
    })
  })

  describe('no reply came', () => {
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
        (socket: RawRequest['socket']) =>
          void socket.write(`HTTP/1.1 200 OK\r\n${'X-Flood: x\r\n'.repeat(50_000)}\r\n`),
        'HPE_HEADER_OVERFLOW',
      ],
    ])('when %s, and the connection is closed', async (_, act, reason) => {
      const upstream = await start(({ socket }) => act(socket))
      expect(await post(upstream)).toStrictEqual({ kind: 'no_response', reason })
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
})

const MILLISECONDS = 5_000
const timeouts = { connectMilliseconds: MILLISECONDS, firstByteMilliseconds: MILLISECONDS }

describe('the head of a request', () => {
  let client: HttpClient
  let upstream: RawUpstream
  beforeEach(async () => {
    client = createHttpClient()
    upstream = await startRawUpstream(({ socket }) => socket.write(httpAnswer(200)))
  })
  afterEach(async () => {
    client.close()
    await upstream.stop()
  })

  async function send(request: Pick<HttpRequest, 'method' | 'body'> & Partial<HttpRequest>) {
    const outcome = await client.send({ url: upstream.origin, headers: {}, timeouts, connection: 'own', ...request })
    return { kind: outcome.kind, lines: upstream.requests.at(-1)?.head.split('\r\n').slice(1) ?? [] }
  }

  it.each([
    ['POST', undefined, '0'],
    ['POST', '', '0'],
    ['POST', new Uint8Array(0), '0'],
    ['POST', '"😀"', '6'],
    ['POST', new Uint8Array([34, 255, 34]), '3'],
    ['GET', undefined, undefined],
    ['DELETE', undefined, undefined],
  ] as const)(
    'of a %s of %j says the length %s, and never that its body comes in chunks',
    async (method, body, length) => {
      const { lines } = await send({ method, body })
      const framing = lines.filter((line) => /^(?:content-length|transfer-encoding):/i.test(line))
      expect(framing).toStrictEqual(length === undefined ? [] : [`Content-Length: ${length}`])
    },
  )

  it('names each header once, with the last of its values, whatever the case of the names', async () => {
    const headers = { Authorization: 'Bearer key', 'content-length': '1', authorization: 'last', 'Content-Length': '2' }
    const { lines } = await send({ method: 'POST', body: '{}', headers })
    expect(lines).toStrictEqual([
      'authorization: last',
      'Content-Length: 2',
      `Host: 127.0.0.1:${upstream.port}`,
      'Connection: close',
    ])
  })

  it.each([
    { 'x-a': 'b\r\nauthorization: stolen' },
    { 'x-a': 'b\n' },
    { 'x-a': 'b\0' },
    { 'x-a': '€' },
    { 'x-a\r\nx-b': 'c' },
    { 'x a': 'c' },
    { 'x-a:': 'c' },
  ])('is not sent with a header that HTTP cannot carry: %j', async (headers) => {
    expect(await send({ method: 'POST', body: '{}', headers })).toStrictEqual({ kind: 'not_sent', lines: [] })
  })
})

const NOW = Date.parse('2026-04-20T10:00:00.400Z')

describe('retryAfterSeconds', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    [' 30 ', 30],
    ['1.2', 2],
    ['Mon, 20 Apr 2026 10:01:00 GMT', 60],
    ['Mon, 20 Apr 2026 09:00:00 GMT', 0],
    ['999999999', 3_600],
    ['Mon, 20 Apr 2046 09:00:00 GMT', 3_600],
  ])('reads %j', (header, seconds) => {
    expect(retryAfterSeconds(header, NOW)).toBe(seconds)
  })

  it.each([undefined, '', 'soon', '{}'])('is undefined for %j', (header) => {
    expect(retryAfterSeconds(header, NOW)).toBeUndefined()
  })
})
