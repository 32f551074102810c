import { afterEach, describe, expect, it } from 'vitest'
import { DownloadRefusedError, DownloadUnavailableError } from '#adapters/outbound/download-errors.ts'
import { type GuardedGet, getGuarded, refuseContentCoding } from '#adapters/outbound/guarded-get.ts'
import { fakeNetwork, type Loopback, listenHttp } from './loopback.ts'

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
