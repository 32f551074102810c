import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import {
  type DownloadError,
  DownloadIncompleteError,
  DownloadRefusedError,
  DownloadTooLargeError,
  DownloadTooSlowError,
  DownloadUnavailableError,
  type GuardedGet,
  getGuarded,
  openDownload,
  refuseContentCoding,
} from '#upstream/guard/download.ts'
import { fakeNetwork, type Loopback, listenHttp, listenTcp } from '../../platform/http/loopback.ts'
import { download, failureOf, from, MAX_BYTES } from './downloading.ts'

describe('a download of a video:', () => {
  const PUBLIC_ADDRESS = '93.184.215.14'
  const servers: Loopback[] = []

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  })

  function stopLater(server: Loopback): Loopback {
    servers.push(server)
    return server
  }

  async function serve(listener: RequestListener): Promise<Loopback> {
    return stopLater(await listenHttp(listener))
  }

  describe('openDownload', () => {
    it('gives the bytes and their announced number, asking for neither compression nor a login', async () => {
      const video = Buffer.alloc(300_000, 0x42)
      const asked: unknown[] = []
      const server = await serve((request, response) => {
        asked.push([request.method, request.url, request.headers])
        response.writeHead(200, { 'content-length': video.length, 'content-encoding': 'identity' }).end(video)
      })
      const { body, contentLength } = await openDownload(from(server))
      expect(contentLength).toBe(300_000)
      expect(Buffer.concat(await body.toArray()).equals(video)).toBe(true)
      const headers = {
        accept: '*/*',
        'accept-encoding': 'identity',
        'user-agent': 'Reelgate',
        host: new URL(server.origin).host,
        connection: 'close',
      }
      expect(asked).toStrictEqual([['GET', '/video.mp4?signature=secret', headers]])
    })

    it('takes a body of unknown length, an empty one and one of exactly the cap', async () => {
      const server = await serve((_request, response) => {
        response.write('a')
        response.end('b')
      })
      expect((await download(from(server))).toString()).toBe('ab')
      expect((await download(from(server, { maxBytes: 2 }))).toString()).toBe('ab')
      const empty = await serve((_request, response) => response.end())
      expect(await download(from(empty))).toHaveLength(0)
    })

    it('fetches from any https port of a public host without it being trusted', async () => {
      const server = await serve((_request, response) => response.end('video'))
      const network = fakeNetwork([[PUBLIC_ADDRESS]], server.port, PUBLIC_ADDRESS)
      expect(
        (
          await download(from(server, { url: 'https://cdn.example:8443/v', trustedOrigins: [], ...network }))
        ).toString(),
      ).toBe('video')
    })

    it.each([
      'http://cdn.example/v?secret',
      'http://127.0.0.1:1/v?secret',
      'https://127.0.0.1/v?secret',
      'https://[::1]/v?secret',
      'https://169.254.169.254/v?secret',
      'https://localhost/v?secret',
      'file:///etc/passwd?secret',
      'ftp://cdn.example/v?secret',
      'data:video/mp4,secret',
      'https://user:secret@cdn.example/v',
      'not a url, secret',
      '//cdn.example/secret',
      '',
      `https://cdn.example/${'a'.repeat(9_000)}`,
    ])('refuses %.60s', async (url) => {
      const failure = await failureOf({ url, trustedOrigins: ['http://127.0.0.1:2'], maxBytes: MAX_BYTES })
      expect(failure).toBeInstanceOf(DownloadRefusedError)
    })

    it('refuses a public name that resolves to a private address', async () => {
      const server = await serve((_request, response) => response.end('video'))
      const network = fakeNetwork([['10.0.0.5']], server.port)
      expect(await failureOf(from(server, { url: 'https://cdn.example/v', ...network }))).toBeInstanceOf(
        DownloadRefusedError,
      )
      expect(server.sockets).toHaveLength(0)
    })

    it.each([206, 204, 304, 400, 403, 404, 410, 500, 503])(
      'fails for status %d in a way that may pass',
      async (status) => {
        const server = await serve((_request, response) => response.writeHead(status).end())
        const failure = await failureOf(from(server))
        expect(failure).toBeInstanceOf(DownloadUnavailableError)
        expect(failure).toMatchObject({ isRetryable: true, message: `the upstream said ${status}` })
        await server.allClosed()
      },
    )

    it('fails in a way that may pass when nobody listens or nothing is answered', async () => {
      const gone = await listenHttp(() => {})
      await gone.stop()
      expect(await failureOf(from(gone))).toBeInstanceOf(DownloadUnavailableError)
      const silent = stopLater(await listenTcp((socket) => socket.resume()))
      const pace = { idleMilliseconds: 30, windowMilliseconds: 60_000, bytesPerSecondMin: 1 }
      expect(await failureOf(from(silent, { pace }))).toBeInstanceOf(DownloadUnavailableError)
    })

    it('refuses a compressed file before reading it', async () => {
      const bomb = gzipSync(Buffer.alloc(5_000_000))
      const server = await serve((_request, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
      )
      expect(await failureOf(from(server))).toBeInstanceOf(DownloadRefusedError)
      await server.allClosed()
    })

    it('refuses an announced length over the cap before reading', async () => {
      const server = await serve((_request, response) => {
        response.writeHead(200, { 'content-length': MAX_BYTES + 1 }).write('a')
      })
      expect(await failureOf(from(server))).toBeInstanceOf(DownloadTooLargeError)
      await server.allClosed()
    })
  })

  describe('openDownload and redirects', () => {
    /** `/n` answers with a redirect to `/n-1`, `/0` with the video. */
    const countdown: RequestListener = (request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) {
        response.end('video')
      } else {
        response.writeHead(302, { location: `/${left - 1}` }).end('moved')
      }
    }

    it('follows three, and not four', async () => {
      const server = await serve(countdown)
      expect((await download(from(server, { url: `${server.origin}/3` }))).toString()).toBe('video')
      expect(await failureOf(from(server, { url: `${server.origin}/4` }))).toBeInstanceOf(DownloadRefusedError)
    })

    it.each([301, 302, 303, 307, 308])('follows status %d with a GET to another trusted origin', async (status) => {
      const target = await serve((request, response) => response.end(request.method))
      const server = await serve((_request, response) =>
        response.writeHead(status, { location: `${target.origin}/v` }).end(),
      )
      expect((await download(from(server, { trustedOrigins: [server.origin, target.origin] }))).toString()).toBe('GET')
    })

    it.each([
      'http://169.254.169.254/latest/meta-data/?secret',
      'https://169.254.169.254/?secret',
      'https://[::ffff:127.0.0.1]/?secret',
      'https://2130706433/?secret',
      'http://127.0.0.1:1/?secret',
      '//127.0.0.1:1/?secret',
      'http://cdn.example/?secret',
      'file:///etc/passwd?secret',
      'https://user:secret@cdn.example/',
      'https://localhost/?secret',
      'http://[',
    ])('refuses the hop to %s', async (location) => {
      const server = await serve((_request, response) => response.writeHead(302, { location }).end())
      expect(await failureOf(from(server))).toBeInstanceOf(DownloadRefusedError)
      expect(server.sockets).toHaveLength(1)
    })

    it('refuses a redirect without a target', async () => {
      const server = await serve((_request, response) => response.writeHead(302).end())
      expect(await failureOf(from(server))).toBeInstanceOf(DownloadRefusedError)
    })

    it('checks the name behind each hop', async () => {
      const server = await serve((_request, response) =>
        response.writeHead(302, { location: 'https://second.example/v' }).end(),
      )
      const network = fakeNetwork([[PUBLIC_ADDRESS], ['10.0.0.5']], server.port, PUBLIC_ADDRESS)
      const failure = await failureOf(from(server, { url: 'https://first.example/v', trustedOrigins: [], ...network }))
      expect(failure).toBeInstanceOf(DownloadRefusedError)
      expect(network.resolved).toStrictEqual(['first.example', 'second.example'])
      expect(network.dialled).toHaveLength(1)
    })
  })
})

describe('getGuarded, a guarded GET:', () => {
  const PUBLIC_ADDRESS = '93.184.215.14'
  const servers: Loopback[] = []
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  })

  async function serve(...args: Parameters<typeof listenHttp>): Promise<Loopback> {
    const server = await listenHttp(...args)
    servers.push(server)
    return server
  }

  const trusting = (url: string, trusted: readonly Loopback[], more: Partial<GuardedGet> = {}): GuardedGet => ({
    url,
    trustedOrigins: trusted.map(({ origin }) => origin),
    namedBy: 'upstream',
    replyMilliseconds: 5_000,
    ...more,
  })

  describe('getGuarded', () => {
    it('asks without credentials and without a content coding, and for a range where one is wanted', async () => {
      const seen: unknown[] = []
      const server = await serve(({ headers }, response) => {
        seen.push(headers)
        response.end('file')
      })
      const { body } = await getGuarded(trusting(`${server.origin}/v`, [server], { range: 'bytes=0-9' }))
      body.destroy()
      expect(seen).toEqual([
        {
          accept: '*/*',
          'accept-encoding': 'identity',
          'user-agent': 'Reelgate',
          range: 'bytes=0-9',
          host: `127.0.0.1:${server.port}`,
          connection: expect.any(String),
        },
      ])
    })

    it('returns the response behind a redirect, and leaves the connections of the others', async () => {
      const target = await serve((_, response) => response.writeHead(206).end('file'))
      const first = await serve((_, response) => response.writeHead(302, { location: `${target.origin}/v` }).end())
      const { status, body } = await getGuarded(trusting(`${first.origin}/`, [first, target]))
      expect(status).toBe(206)
      expect((await body.next()).value?.toString()).toBe('file')
      await first.allClosed()
    })

    it('never leads from a host of a client into a trusted origin', async () => {
      const visits: (string | undefined)[] = []
      const server = await serve(({ headers }, response) => {
        visits.push(headers.host)
        response.writeHead(302, { location: 'http://inside.example/' }).end()
      })
      const network = fakeNetwork([[PUBLIC_ADDRESS], ['10.0.0.5']], server.port, PUBLIC_ADDRESS)
      const trustedOrigins = ['http://inside.example']
      const command = trusting('https://public.example/v', [], { ...network, trustedOrigins, namedBy: 'client' })
      await expect(getGuarded(command)).rejects.toBeInstanceOf(DownloadRefusedError)
      expect(visits).toEqual(['public.example'])
    })

    it.each([
      ['missing', ''],
      ['too long', `https://v.example/${'x'.repeat(9_000)}`],
      ['not a url', 'https://['],
    ])('refuses a url that is %s', async (_, url) => {
      await expect(getGuarded(trusting(url, []))).rejects.toBeInstanceOf(DownloadRefusedError)
    })

    it('is unavailable, with no word of path or query, when nobody is there', async () => {
      const server = await listenHttp(() => {})
      await server.stop()
      const failure = await getGuarded(trusting(`${server.origin}/path?token=secret`, [server])).catch((error) => error)
      expect(failure).toBeInstanceOf(DownloadUnavailableError)
      expect(failure.message).toBe('the network said ECONNREFUSED')
    })
  })

  describe('refuseContentCoding', () => {
    it.each(['gzip', 'br', 'identity, gzip'])('refuses %s', (coding) => {
      expect(() => refuseContentCoding({ 'content-encoding': coding })).toThrow(DownloadRefusedError)
    })

    it.each([undefined, '', ' Identity '])('lets %j pass', (coding) => {
      expect(() => refuseContentCoding(coding === undefined ? {} : { 'content-encoding': coding })).not.toThrow()
    })
  })
})

describe('the body of a download', () => {
  const servers: Loopback[] = []

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  })

  function stopLater(server: Loopback): Loopback {
    servers.push(server)
    return server
  }

  async function serve(listener: RequestListener): Promise<Loopback> {
    return stopLater(await listenHttp(listener))
  }

  it('stops an endless body at the cap', async () => {
    const chunk = Buffer.alloc(64_000)
    const server = await serve((_request, response) => {
      const pour = () => response.writable && response.write(chunk, pour)
      pour()
    })
    const failure = await failureOf(from(server))
    expect(failure).toBeInstanceOf(DownloadTooLargeError)
    expect(failure).toMatchObject({ isRetryable: false })
    await server.allClosed()
  })

  it.each<[string, string, new (message: string) => DownloadError]>([
    [
      'that ends before its announced length',
      'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc',
      DownloadIncompleteError,
    ],
    [
      'whose last chunk is missing',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
      DownloadIncompleteError,
    ],
    ['with a length that is no number', 'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\nabc', DownloadUnavailableError],
    [
      'with two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc',
      DownloadUnavailableError,
    ],
    ['that is no HTTP', 'abc\r\n', DownloadUnavailableError],
  ])('fails for an answer %s', async (_name, answer, expected) => {
    const server = stopLater(await listenTcp((socket) => socket.once('data', () => socket.end(answer))))
    const failure = await failureOf(from(server))
    expect(failure).toBeInstanceOf(expected)
    expect(failure).toMatchObject({ isRetryable: true })
  })

  it('fails when the connection is reset half way', async () => {
    const server = stopLater(
      await listenTcp((socket) => {
        socket.once('data', () =>
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabcde', () => socket.resetAndDestroy()),
        )
      }),
    )
    expect(await failureOf(from(server))).toBeInstanceOf(DownloadIncompleteError)
  })

  it('gives no more than the announced length', async () => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabcdef'
    const server = stopLater(await listenTcp((socket) => socket.once('data', () => socket.end(answer))))
    expect((await download(from(server))).toString()).toBe('abc')
  })

  it('gives up when no bytes come for too long', async () => {
    const server = await serve((_request, response) => response.write('a'))
    const pace = { idleMilliseconds: 30, windowMilliseconds: 60_000, bytesPerSecondMin: 1 }
    expect(await failureOf(from(server, { pace }))).toBeInstanceOf(DownloadTooSlowError)
    await server.allClosed()
  })

  it('gives up when bytes only drip', async () => {
    const server = await serve((_request, response) => {
      const drip = setInterval(() => response.write('a'), 5)
      response.once('close', () => clearInterval(drip))
    })
    const pace = { idleMilliseconds: 5_000, windowMilliseconds: 50, bytesPerSecondMin: 500_000 }
    expect(await failureOf(from(server, { pace }))).toBeInstanceOf(DownloadTooSlowError)
    await server.allClosed()
  })

  it('gives up when bytes only drip after a fast beginning, which makes up for nothing', async () => {
    const server = await serve((_request, response) => {
      response.write(Buffer.alloc(900_000))
      const drip = setInterval(() => response.write('a'), 5)
      // Long after the window in which it fell behind, and long before the average of all falls below the floor.
      const end = setTimeout(() => response.end(), 2_000)
      response.once('close', () => {
        clearInterval(drip)
        clearTimeout(end)
      })
    })
    const pace = { idleMilliseconds: 5_000, windowMilliseconds: 200, bytesPerSecondMin: 50_000 }
    expect(await failureOf(from(server, { pace }))).toBeInstanceOf(DownloadTooSlowError)
    await server.allClosed()
  })

  it('does not blame the upstream for a slow reader', async () => {
    const server = await serve((_request, response) => response.end(Buffer.alloc(900_000)))
    const pace = { idleMilliseconds: 900, windowMilliseconds: 500, bytesPerSecondMin: 500_000 }
    const { body } = await openDownload(from(server, { pace }))
    let received = 0
    for await (const chunk of body) {
      received += Buffer.byteLength(chunk)
      if (received === Buffer.byteLength(chunk)) {
        // The reader itself takes longer than the idle limit and the window.
        await new Promise((resolve) => setTimeout(resolve, 1_000))
      }
    }
    expect(received).toBe(900_000)
  })

  it('closes the connection when the reader stops', async () => {
    const server = await serve((_request, response) => response.write(Buffer.alloc(10_000)))
    const { body } = await openDownload(from(server))
    await once(body, 'readable')
    // Asks for bytes that never come, so that the stream is waiting when it is destroyed.
    body.read()
    body.destroy()
    await server.allClosed()
  })

  it('stops when it is told to', async () => {
    const server = await serve((_request, response) => response.write('a'))
    const controller = new AbortController()
    const { body } = await openDownload(from(server, { signal: controller.signal }))
    const reading = body.toArray()
    controller.abort()
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' })
    await server.allClosed()
  })
})
