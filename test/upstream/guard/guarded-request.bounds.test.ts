import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { DownloadError, DownloadTooLargeError } from '#upstream/guard/download.ts'
import { type OutboundNetwork, systemNetwork } from '#upstream/guard/outbound-network.ts'
import { CALLBACK_RESPONSE_BYTES_MAX, type CallbackCommand, sendCallback } from '#upstream/send-callback.ts'
import { hurried } from '../../faults/hurried-time.ts'
import { type Loopback, listenHttp, listenTcp } from '../../platform/http/loopback.ts'
import { download, failureOf, from } from './downloading.ts'
import { type Misbehaviour, misbehave } from './misbehaving-servers.ts'

/** So fast the shipped limits pass: 15 s in 300 ms. */
const HURRY = 50

/** More than the receive buffer of a stream, and next to nothing of a gigabyte. */
const READ_BYTES_MAX = 512 * 1024

const servers: Loopback[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

async function serve(starting: Promise<Loopback>): Promise<Loopback> {
  const server = await starting
  servers.push(server)
  return server
}

/** Whether so many hurried milliseconds are the limit, give or take what a busy machine adds. */
function isAbout(limitSeconds: number, milliseconds: number): boolean {
  return milliseconds >= limitSeconds * 980 && milliseconds < limitSeconds * 5_000
}

/** The real network, and how many bytes were taken from it: what was not read is not in memory either. */
function measuredNetwork(): OutboundNetwork & { bytesRead(): number } {
  const sockets: Socket[] = []
  return {
    resolve: systemNetwork.resolve,
    dial: (target) => {
      const socket = systemNetwork.dial(target)
      sockets.push(socket)
      return socket
    },
    bytesRead: () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
  }
}

const callbackTo = ({ origin }: Loopback, network: Partial<OutboundNetwork> = {}): CallbackCommand => ({
  url: `${origin}/cb`,
  allowlist: [origin],
  body: '{}',
  headers: {},
  ...network,
})

describe('sendCallback: a callback', () => {
  it.each<[Misbehaviour, 'delivered' | 'failed']>([
    ['a body of a gigabyte', 'delivered'],
    ['a body without end', 'delivered'],
    ['headers without end', 'failed'],
    ['a change of protocol', 'failed'],
  ])('that is answered with %s is over at once, next to nothing of it read', async (misbehaviour, outcome) => {
    const server = await serve(misbehave(misbehaviour))
    const network = measuredNetwork()
    expect(await sendCallback(callbackTo(server, network))).toMatchObject({ outcome })
    await server.allClosed()
    expect(network.bytesRead()).toBeLessThan(READ_BYTES_MAX)
  })

  it('reads four kilobytes of a response, and not a piece more', async () => {
    const piece = Buffer.alloc(512, 0x61)
    const network = measuredNetwork()
    const server = await serve(
      listenHttp(async (_request, response) => {
        response.writeHead(200, { 'content-length': 1_000_000 }).flushHeaders()
        const sent = () => response.socket?.bytesWritten ?? 0
        while (!response.destroyed) {
          await new Promise((resolve) => response.write(piece, resolve))
          while (!response.destroyed && network.bytesRead() < sent()) {
            await new Promise(setImmediate)
          }
        }
      }),
    )
    expect(await sendCallback(callbackTo(server, network))).toMatchObject({ outcome: 'delivered' })
    await server.allClosed()
    expect(network.bytesRead()).toBeGreaterThanOrEqual(CALLBACK_RESPONSE_BYTES_MAX)
    expect(network.bytesRead()).toBeLessThan(CALLBACK_RESPONSE_BYTES_MAX + 1_024)
  })

  it('that is answered with silence or in drips is over after 15 seconds', async () => {
    const attempt = async (misbehaviour: Misbehaviour) => {
      const server = await serve(misbehave(misbehaviour))
      const before = performance.now()
      const { outcome } = await sendCallback(callbackTo(server))
      await server.allClosed()
      return [misbehaviour, outcome, isAbout(15, performance.now() - before)]
    }
    const slow: Misbehaviour[] = ['silence', 'dripping headers', 'interim answers without end', 'a dripping body']
    expect(await hurried(HURRY, () => Promise.all(slow.map(attempt)))).toStrictEqual([
      ['silence', 'failed', true],
      ['dripping headers', 'failed', true],
      ['interim answers without end', 'failed', true],
      ['a dripping body', 'delivered', true],
    ])
  })

  it('to a host that never finishes TLS is over after 5 seconds', async () => {
    const server = await serve(listenTcp((socket) => socket.resume()))
    const origin = server.origin.replace('http:', 'https:')
    const delivery = await hurried(HURRY, () => sendCallback(callbackTo({ ...server, origin })))
    expect(delivery).toMatchObject({ outcome: 'failed', reason: 'no connection in time' })
    await server.allClosed()
  })

  it('to a name that nobody answers for is over after 5 seconds', async () => {
    const origin = 'https://hooks.example.com'
    const resolve = () => new Promise<never>(() => {})
    const command = { url: `${origin}/cb`, allowlist: [origin], body: '{}', headers: {}, resolve }
    const delivery = await hurried(HURRY, () => sendCallback(command))
    expect(delivery).toMatchObject({ outcome: 'failed', reason: 'no connection in time' })
  })
})

describe('openDownload: a download', () => {
  it.each<[Misbehaviour, object]>([
    ['a body of a gigabyte', DownloadTooLargeError],
    ['a body without end', DownloadTooLargeError],
    ['headers without end', DownloadError],
    ['a change of protocol', DownloadError],
  ])('that is answered with %s is over at the cap', async (misbehaviour, expected) => {
    const server = await serve(misbehave(misbehaviour))
    const network = measuredNetwork()
    expect(await failureOf(from(server, { ...network, maxBytes: 100_000 }))).toBeInstanceOf(expected)
    await server.allClosed()
    expect(network.bytesRead()).toBeLessThan(READ_BYTES_MAX)
  })

  it('that is answered with silence or in drips is over after the shipped limits', async () => {
    const attempt = async (misbehaviour: Misbehaviour, limitSeconds: number) => {
      const server = await serve(misbehave(misbehaviour))
      const before = performance.now()
      const failure = await failureOf(from(server))
      await server.allClosed()
      const { name } = failure instanceof DownloadError ? failure : { name: String(failure) }
      return [misbehaviour, name, isAbout(limitSeconds, performance.now() - before)]
    }
    const attempts = () =>
      Promise.all([
        attempt('silence', 30),
        attempt('dripping headers', 30),
        attempt('interim answers without end', 30),
        attempt('a dripping body', 60),
      ])
    expect(await hurried(HURRY, attempts)).toStrictEqual([
      ['silence', 'DownloadUnavailableError', true],
      ['dripping headers', 'DownloadUnavailableError', true],
      ['interim answers without end', 'DownloadUnavailableError', true],
      ['a dripping body', 'DownloadTooSlowError', true],
    ])
  })

  it.each(['gzip', 'GZIP', 'br', 'deflate', 'zstd', 'identity, gzip', 'x-unknown'])(
    'whose body is compressed (%s) is refused unread',
    async (coding) => {
      const server = await serve(
        listenHttp((_request, response) => {
          response.writeHead(200, { 'content-encoding': coding })
          const pour = () => response.writable && response.write(Buffer.alloc(65_536), pour)
          pour()
        }),
      )
      const network = measuredNetwork()
      expect(await failureOf(from(server, { ...network, maxBytes: 1024 ** 3 }))).toMatchObject({
        name: 'DownloadRefusedError',
        isRetryable: false,
      })
      await server.allClosed()
      expect(network.bytesRead()).toBeLessThan(READ_BYTES_MAX)
    },
  )

  it('leaves the body of a redirect unread', async () => {
    const server = await serve(
      listenHttp((request, response) => {
        if (request.url === '/moved') {
          response.end('video')
          return
        }
        response.writeHead(302, { location: '/moved' })
        const pour = () => response.writable && response.write(Buffer.alloc(65_536), pour)
        pour()
      }),
    )
    const network = measuredNetwork()
    expect((await download(from(server, network))).toString()).toBe('video')
    expect(network.bytesRead()).toBeLessThan(READ_BYTES_MAX)
  })
})
