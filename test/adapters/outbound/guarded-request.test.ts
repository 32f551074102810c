import { getEventListeners, once } from 'node:events'
import { createServer } from 'node:https'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { ResponseBrokenError } from '#adapters/http/response-broken-error.ts'
import {
  type GuardedRequest,
  RequestFailedError,
  RequestRefusedError,
  sendGuardedRequest,
} from '#adapters/outbound/guarded-request.ts'
import { fakeNetwork, type Loopback, listenHttp, listenTcp } from './loopback.ts'
import { createSelfSignedCertificate } from './self-signed-certificate.ts'

const PUBLIC_ADDRESS = '93.184.215.14'
const stops: (() => Promise<void> | void)[] = []

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()))
})

function stopLater(server: Loopback): Loopback {
  stops.push(() => server.stop())
  return server
}

function get(url: string, more: Partial<GuardedRequest> = {}): GuardedRequest {
  return { url: new URL(url), method: 'GET', headers: {}, isTrustedOrigin: false, replyMilliseconds: 5_000, ...more }
}

async function read(command: GuardedRequest): Promise<string> {
  const { body } = await sendGuardedRequest(command)
  const chunks: Buffer[] = []
  for await (const chunk of body) {
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

describe('sendGuardedRequest', () => {
  it('looks the name up once and dials what it checked', async () => {
    const server = stopLater(
      await listenHttp((request, response) => response.end(`${request.headers.host} ${request.url}`)),
    )
    const network = fakeNetwork([[PUBLIC_ADDRESS, '2606:2800::1']], server.port, PUBLIC_ADDRESS)
    expect(await read(get('https://example.com:8443/a?b=c', network))).toBe('example.com:8443 /a?b=c')
    expect(network.resolved).toStrictEqual(['example.com'])
    const addresses = [
      { address: PUBLIC_ADDRESS, family: 4 },
      { address: '2606:2800::1', family: 6 },
    ]
    expect(network.dialled).toStrictEqual([{ hostname: 'example.com', port: 8443, isTls: true, addresses }])
  })

  it('refuses a name when only one of its addresses is private, and does not connect', async () => {
    const network = fakeNetwork([[PUBLIC_ADDRESS, '10.0.0.5']], 1)
    await expect(sendGuardedRequest(get('https://example.com/', network))).rejects.toThrow(RequestRefusedError)
    expect(network.dialled).toStrictEqual([])
  })

  it('writes no byte when the connection ends at another address than the checked ones', async () => {
    const received: Buffer[] = []
    const server = stopLater(await listenTcp((socket) => socket.on('data', (data) => received.push(data))))
    const network = fakeNetwork([[PUBLIC_ADDRESS]], server.port)
    await expect(sendGuardedRequest(get('https://example.com/', network))).rejects.toThrow(RequestRefusedError)
    await server.allClosed()
    expect(received).toStrictEqual([])
  })

  it.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://0/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://[fd00:ec2::254]/',
  ])('refuses the address %s, which no look-up ever sees', async (url) => {
    const network = fakeNetwork([[PUBLIC_ADDRESS]], 1)
    await expect(sendGuardedRequest(get(url, network))).rejects.toThrow(RequestRefusedError)
    expect([network.resolved, network.dialled]).toStrictEqual([[], []])
  })

  it.each([
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'data:,x',
    'https://user:word@example.com/',
  ])('refuses %s before any look-up', async (url) => {
    const network = fakeNetwork([[PUBLIC_ADDRESS]], 1)
    await expect(sendGuardedRequest(get(url, network))).rejects.toThrow(RequestRefusedError)
    expect(network.resolved).toStrictEqual([])
  })

  it.each(['ftp://127.0.0.1/', 'file:///etc/passwd', 'http://user@127.0.0.1/'])(
    'refuses %s from a trusted origin too',
    async (url) => {
      await expect(sendGuardedRequest(get(url, { isTrustedOrigin: true }))).rejects.toThrow(RequestRefusedError)
    },
  )

  it('reaches a trusted origin over plain http on this machine, through the real resolver', async () => {
    const server = stopLater(await listenHttp((_request, response) => response.end('hello')))
    expect(await read(get(`http://localhost:${server.port}/`, { isTrustedOrigin: true }))).toBe('hello')
  })

  it('refuses a name that really resolves to this machine', async () => {
    await expect(sendGuardedRequest(get('https://localhost/'))).rejects.toThrow(RequestRefusedError)
  })

  it('fails when the name has no address', async () => {
    await expect(sendGuardedRequest(get('https://example.com/', fakeNetwork([[]], 1)))).rejects.toThrow(
      RequestFailedError,
    )
  })

  it('gives up when the name is not answered in time', async () => {
    const never = { resolve: () => new Promise<never>(() => {}), signal: AbortSignal.timeout(20) }
    await expect(sendGuardedRequest(get('https://example.com/', never))).rejects.toThrow(RequestFailedError)
  })

  it('gives up at once when it was aborted before', async () => {
    const aborted = { isTrustedOrigin: true, signal: AbortSignal.abort() }
    await expect(sendGuardedRequest(get('http://127.0.0.1:1/', aborted))).rejects.toThrow(RequestFailedError)
  })

  it('gives up when no answer comes in time, and closes the connection', async () => {
    const server = stopLater(await listenTcp((socket) => socket.resume()))
    const command = get(`${server.origin}/?token=secret`, { isTrustedOrigin: true, replyMilliseconds: 30 })
    await expect(sendGuardedRequest(command)).rejects.toThrow('no answer in time')
    await server.allClosed()
  })

  it('fails with the code of the error alone', async () => {
    const server = await listenHttp(() => {})
    await server.stop()
    const command = get(`${server.origin}/path?token=secret`, { isTrustedOrigin: true })
    await expect(sendGuardedRequest(command)).rejects.toThrow(/^the network said ECONNREFUSED$/)
  })

  it('survives an answer that breaks before anyone reads it', async () => {
    const server = stopLater(
      await listenTcp((socket) => {
        socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'))
      }),
    )
    const { body } = await sendGuardedRequest(get(`${server.origin}/`, { isTrustedOrigin: true }))
    server.sockets[0]?.resetAndDestroy()
    expect(await new Promise((resolve) => body.onceOver(resolve))).toBe('broken')
    expect(await body.next()).toMatchObject({ value: Buffer.from('abc') })
    await expect(body.next()).rejects.toThrow(ResponseBrokenError)
  })

  it('ends a body when its signal fires, and closes the connection', async () => {
    const server = stopLater(
      await listenTcp((socket) => {
        socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'))
      }),
    )
    const controller = new AbortController()
    const command = get(`${server.origin}/`, { isTrustedOrigin: true, signal: controller.signal })
    const { body } = await sendGuardedRequest(command)
    expect(await body.next()).toMatchObject({ value: Buffer.from('abc') })
    const pending = body.next()
    controller.abort()
    await expect(pending).rejects.toThrow(ResponseBrokenError)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
    await server.allClosed()
  })
})

describe('sendGuardedRequest over TLS', () => {
  async function listenTls(
    certificateHost: string,
  ): Promise<{ port: number; cert: string; urls: (string | undefined)[] }> {
    const { key, cert } = createSelfSignedCertificate(certificateHost)
    const urls: (string | undefined)[] = []
    const server = createServer({ key, cert }, (request, response) => {
      urls.push(request.url)
      response.end('hello')
    })
    server.on('tlsClientError', () => {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    stops.push(() => {
      server.close()
      server.closeAllConnections()
    })
    const address = server.address()
    return { port: address === null || typeof address === 'string' ? 0 : address.port, cert, urls }
  }

  it('refuses a certificate that nobody vouches for, also where the environment would allow it', async () => {
    const { port, urls } = await listenTls('localhost')
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      const command = get(`https://localhost:${port}/`, { isTrustedOrigin: true })
      await expect(sendGuardedRequest(command)).rejects.toThrow('DEPTH_ZERO_SELF_SIGNED_CERT')
    } finally {
      if (before === undefined) {
        delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      } else {
        process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
      }
    }
    expect(urls).toStrictEqual([])
  })

  it.each([
    ['localhost', 'hello'],
    ['example.com', 'the network said ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('with a known certificate for %s: %s', async (certificateHost, expected) => {
    const { port, cert } = await listenTls(certificateHost)
    const dial: GuardedRequest['dial'] = ({ hostname }) =>
      connectTls({ host: hostname, servername: hostname, port, ca: cert })
    const command = get(`https://localhost:${port}/`, { isTrustedOrigin: true, dial })
    expect(await read(command).catch((error: Error) => error.message)).toBe(expected)
  })
})
