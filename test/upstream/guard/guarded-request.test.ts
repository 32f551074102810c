import { getEventListeners, once } from 'node:events'
import { createServer } from 'node:https'
import { connect as connectTls } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { ResponseBrokenError } from '#platform/http/response-body.ts'
import { openDownload } from '#upstream/guard/download.ts'
import {
  type GuardedRequest,
  guardedFetch,
  isGlobalUnicast,
  RequestFailedError,
  RequestRefusedError,
  sendGuardedRequest,
} from '#upstream/guard/guarded-request.ts'
import { type OutboundNetwork, systemNetwork } from '#upstream/guard/outbound-network.ts'
import { sendCallback } from '#upstream/send-callback.ts'
import {
  createSelfSignedCertificate,
  fakeNetwork,
  type Loopback,
  listenHttp,
  listenTcp,
} from '../../platform/http/loopback.ts'
import { MAX_BYTES } from './downloading.ts'

describe('guarded request', () => {
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

    it('gives up when no response comes in time, and closes the connection', async () => {
      const server = stopLater(await listenTcp((socket) => socket.resume()))
      const command = get(`${server.origin}/?token=secret`, { isTrustedOrigin: true, replyMilliseconds: 30 })
      await expect(sendGuardedRequest(command)).rejects.toThrow('no response in time')
      await server.allClosed()
    })

    it('fails with the code of the error alone', async () => {
      const server = await listenHttp(() => {})
      await server.stop()
      const command = get(`${server.origin}/path?token=secret`, { isTrustedOrigin: true })
      await expect(sendGuardedRequest(command)).rejects.toThrow(/^the network said ECONNREFUSED$/)
    })

    it('survives a response that breaks before anyone reads it', async () => {
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
      const server = createServer({ key, cert, keepAliveTimeout: 0 }, (request, response) => {
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
})

describe('guardedFetch', () => {
  let server: Loopback
  beforeAll(async () => {
    server = await listenHttp(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString('utf8')
      if (request.url === '/large') {
        response.end(Buffer.alloc(1024 * 1024 + 1))
      } else if (request.url === '/away') {
        response.writeHead(302, { location: 'https://example.com/' }).end()
      } else {
        const shown = { method: request.method, type: request.headers['content-type'], body }
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(shown))
      }
    })
  })
  afterAll(() => server.stop())

  const trusted = () => guardedFetch(server.origin)

  it('gets and posts forms at the origin that the operator named', async () => {
    expect(await (await trusted()(`${server.origin}/`)).json()).toEqual({ method: 'GET', body: '' })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const options = { method: 'POST', headers, body: new URLSearchParams({ code: 'a b' }) }
    expect(await (await trusted()(`${server.origin}/`, options)).json()).toMatchObject({
      method: 'POST',
      body: 'code=a+b',
    })
  })

  it('refuses every other private address', async () => {
    await expect(guardedFetch('https://login.example.com')(`${server.origin}/`)).rejects.toBeInstanceOf(
      RequestRefusedError,
    )
    await expect(trusted()('https://169.254.169.254/latest')).rejects.toBeInstanceOf(RequestRefusedError)
  })

  it('follows no redirect', async () => {
    expect((await trusted()(`${server.origin}/away`)).status).toBe(302)
  })

  it('refuses a response above a megabyte, and a body that is no form', async () => {
    await expect(trusted()(`${server.origin}/large`)).rejects.toBeInstanceOf(RequestFailedError)
    const body = new Blob(['x'])
    await expect(trusted()(`${server.origin}/`, { method: 'POST', body })).rejects.toBeInstanceOf(RequestRefusedError)
  })
})

describe('isGlobalUnicast', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '93.184.215.14',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2606:2800:21f:cb07:6820:80da:af6b:8b2c',
    '2A00:1450:4001:81B::200E',
  ])('takes %s', (address) => {
    expect(isGlobalUnicast(address)).toBe(true)
  })

  it.each([
    ['this network', '0.0.0.0', '0.255.255.255'],
    ['private', '10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
    ['carrier-grade NAT', '100.64.0.0', '100.100.100.200', '100.127.255.255'],
    ['loopback', '127.0.0.1', '127.255.255.255', '::1'],
    [
      'link-local',
      '169.254.0.0',
      '169.254.79.129',
      '169.254.169.254',
      '169.254.170.2',
      '169.254.170.23',
      'fe80::1',
      'febf::1',
    ],
    ['a cloud host agent', '168.63.129.16'],
    ['protocol assignments', '192.0.0.1', '192.0.0.170', '2001:1::1', '2001:1ff::1'],
    ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1', '3fff:fff::1'],
    ['6to4', '192.88.99.1', '2002:a9fe:a9fe::', '2002:7f00:1::', '2002:808:808::1'],
    ['benchmarking', '198.18.0.1', '198.19.255.255', '2001:2::1'],
    ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
    ['reserved and broadcast', '240.0.0.1', '255.255.255.255', '5f00::1', '4000::1', '100::1'],
    ['unspecified', '::'],
    ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '0:0:0:0:0:ffff:a00:5'],
    ['IPv4-compatible and translated', '::127.0.0.1', '::8.8.8.8', '::ffff:0:127.0.0.1'],
    ['NAT64', '64:ff9b::a9fe:a9fe', '64:ff9b::808:808', '64:ff9b:1::1'],
    ['Teredo', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['ORCHID', '2001:10::1', '2001:20::1'],
    ['unique local', 'fc00::1', 'fd00:ec2::254', 'fd00:ec2::23'],
    ['site-local', 'fec0::1'],
    ['a zone', 'fe80::1%eth0', '2606:2800::1%eth0'],
    [
      'no canonical address',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '127.1',
      '8.8.8',
      '08.8.8.8',
      '8.8.8.8.',
      ' 8.8.8.8',
      '[2606::1]',
      'localhost',
      '',
    ],
  ])('refuses %s', (_name, ...addresses) => {
    expect(addresses.filter((address) => isGlobalUnicast(address))).toStrictEqual([])
  })
})

describe('guarded request rebinding', () => {
  const servers: Loopback[] = []

  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  })

  function stopLater(server: Loopback): Loopback {
    servers.push(server)
    return server
  }

  /** The real sockets behind a resolver that answers `address` once and must never be asked again. */
  function answeringOnce(address: string): OutboundNetwork & { asked: string[] } {
    const asked: string[] = []
    const resolve = async (hostname: string) => {
      asked.push(hostname)
      if (asked.length > 1) {
        throw new Error('the name was looked up a second time')
      }
      return [{ address, family: 4 }]
    }
    return { asked, resolve, dial: systemNetwork.dial }
  }

  /** No resolver knows a name below `.invalid` (RFC 6761): a socket that looked it up by itself would not get anywhere. */
  const NAME = 'rebinding.invalid'

  describe('a name whose answer changes between check and connection', () => {
    it('is called back at the address that was checked', async () => {
      const server = stopLater(await listenHttp((_request, response) => response.end()))
      const origin = `http://${NAME}:${server.port}`
      const network = answeringOnce('127.0.0.1')
      const command = { url: `${origin}/cb`, allowlist: [origin], body: '{}', headers: {}, ...network }
      expect(await sendCallback(command)).toStrictEqual({ outcome: 'delivered', status: 200 })
      expect(network.asked).toStrictEqual([NAME])
    })

    it('is downloaded from at the address that was checked', async () => {
      const server = stopLater(await listenHttp((request, response) => response.end(request.headers.host)))
      const origin = `http://${NAME}:${server.port}`
      const network = answeringOnce('127.0.0.1')
      const { body } = await openDownload({
        url: `${origin}/v`,
        trustedOrigins: [origin],
        maxBytes: MAX_BYTES,
        ...network,
      })
      expect(Buffer.concat(await body.toArray()).toString()).toBe(`${NAME}:${server.port}`)
      expect(network.asked).toStrictEqual([NAME])
    })

    it('is not asked for again when nobody answers at the checked address', async () => {
      const gone = await listenHttp(() => {})
      await gone.stop()
      const origin = `http://${NAME}:${gone.port}`
      const network = answeringOnce('127.0.0.1')
      const command = { url: `${origin}/cb`, allowlist: [origin], body: '{}', headers: {}, ...network }
      expect(await sendCallback(command)).toMatchObject({ outcome: 'failed', reason: 'the network said ECONNREFUSED' })
      expect(network.asked).toStrictEqual([NAME])
    })
  })

  describe('the sockets of the system', () => {
    it.each([true, false])('go to the address they are given, whatever the name is (TLS: %j)', async (isTls) => {
      const heard: string[] = []
      const server = stopLater(
        await listenTcp((socket) =>
          socket.once('data', (bytes) => {
            heard.push(bytes.toString('latin1'))
            socket.end()
          }),
        ),
      )
      const addresses = [{ address: '127.0.0.1', family: 4 }]
      const socket = systemNetwork.dial({ hostname: NAME, port: server.port, isTls, addresses })
      // Over TLS the far end is no such server; what counts is that it was reached, and asked for by name.
      socket.on('error', () => {})
      socket.on('connect', () => socket.write(NAME))
      // Not `once` of node:events, which fails with the socket.
      await new Promise((resolve) => socket.once('close', resolve))
      expect(heard.join('')).toContain(NAME)
    })

    it('try the addresses they are given one after the other, and no other', async () => {
      const server = stopLater(await listenTcp((socket) => socket.end()))
      const addresses = ['127.0.0.2', '127.0.0.1'].map((address) => ({ address, family: 4 }))
      const socket = systemNetwork.dial({ hostname: NAME, port: server.port, isTls: false, addresses })
      await once(socket, 'connect')
      expect(socket.remoteAddress).toBe('127.0.0.1')
      socket.destroy()
      expect(server.sockets).toHaveLength(1)
    })
  })
})
