import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import {
  DownloadRefusedError,
  DownloadTooLargeError,
  DownloadUnavailableError,
} from '#adapters/outbound/download-errors.ts'
import { openDownload } from '#adapters/outbound/download-video.ts'
import { download, failureOf, from, MAX_BYTES } from './downloading.ts'
import { fakeNetwork, type Loopback, listenHttp, listenTcp } from './loopback.ts'

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
      (await download(from(server, { url: 'https://cdn.example:8443/v', trustedOrigins: [], ...network }))).toString(),
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
