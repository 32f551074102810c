import { afterEach, describe, expect, it } from '@jest/globals'
import { DownloadError, DownloadRefusedError } from '#upstream/guard/download.ts'
import { type FakeNetwork, fakeNetwork, type Loopback, listenHttp } from '../../platform/http/loopback.ts'
import { download, failureOf, MAX_BYTES } from './downloading.ts'
import { lookUpAnswers, vectorsOf } from './ssrf-vectors.ts'

const PUBLIC_ADDRESS = '93.184.215.14'
const servers: Loopback[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

/** A server that answers each request with the next location of the list, and with a video when the list is over. */
async function serveHops(...locations: string[]): Promise<{ port: number; visits: string[] }> {
  const visits: string[] = []
  const server = await listenHttp((request, response) => {
    visits.push(`${request.headers.host}${request.url}`)
    const location = locations[visits.length - 1]
    if (location === undefined) {
      response.end('video')
    } else {
      response.writeHead(302, { location }).end()
    }
  })
  servers.push(server)
  return { port: server.port, visits }
}

const command = (url: string, network: FakeNetwork) => ({ url, trustedOrigins: [], maxBytes: MAX_BYTES, ...network })
const dialled = (network: FakeNetwork) =>
  network.dialled.map(({ addresses }) => addresses.map(({ address }) => address))

describe('a download and the connect vectors', () => {
  it.each(vectorsOf('connect'))('connects for $id as listed: $why', async ({ url, dns, allow }) => {
    const { port, visits } = await serveHops()
    const answers = lookUpAnswers({ dns })
    const isRebinding = answers.length > 1
    const network = fakeNetwork(answers, port, answers.at(-1)?.[0])
    if (allow) {
      expect((await download(command(url, network))).toString()).toBe('video')
    } else {
      expect(await failureOf(command(url, network))).toBeInstanceOf(DownloadError)
    }
    expect(visits).toHaveLength(allow ? 1 : 0)
    expect(network.resolved).toHaveLength(1)
    expect(dialled(network)).toStrictEqual(allow || isRebinding ? [answers[0]] : [])
  })

  it.each(vectorsOf('connect'))('behind a redirect connects for $id as listed: $why', async ({ url, dns, allow }) => {
    const { port, visits } = await serveHops(url)
    const [answer = []] = lookUpAnswers({ dns })
    const isRebinding = lookUpAnswers({ dns }).length > 1
    // A look-up that would answer otherwise is never asked, so the name's first answer is all that counts.
    const network = fakeNetwork([[PUBLIC_ADDRESS], answer], port, PUBLIC_ADDRESS)
    const outcome = await failureOf(command('https://first.example/v', network))
    if (allow || isRebinding) {
      expect(outcome).toBe('no failure')
    } else {
      expect(outcome).toBeInstanceOf(DownloadError)
    }
    expect(visits).toHaveLength(allow || isRebinding ? 2 : 1)
    expect(network.resolved).toHaveLength(2)
  })

  it.each(vectorsOf('redirect'))('checks $id like any other hop: $why', async ({ url, location }) => {
    const { port, visits } = await serveHops(location)
    const network = fakeNetwork([[PUBLIC_ADDRESS], ['10.0.0.5']], port, PUBLIC_ADDRESS)
    expect(await failureOf(command(url, network))).toBeInstanceOf(DownloadRefusedError)
    expect(visits).toHaveLength(1)
  })
})

/** What a hop may not be, and what its name resolves to where it has one. */
const BAD_HOPS: readonly (readonly [string, string, readonly string[]])[] = [
  ['a private address', 'https://10.0.0.5/?secret', []],
  ['the metadata service', 'https://169.254.169.254/latest/meta-data/?secret', []],
  ['the metadata service over plain http', 'http://169.254.169.254/latest/meta-data/?secret', []],
  ['an address written as one number', 'https://2852039166/?secret', []],
  ['an address written in octal', 'https://0251.0376.0251.0376/?secret', []],
  ['an IPv6 address that holds an IPv4 one', 'https://[::ffff:169.254.169.254]/?secret', []],
  ['an address of this machine without a scheme', '//127.0.0.1/?secret', []],
  ['an address behind backslashes', 'https:\\\\127.0.0.1\\secret', []],
  ['a name that resolves to a private address', 'https://inside.example/?secret', ['10.0.0.5']],
  [
    'a name with one private address among public ones',
    'https://inside.example/?secret',
    [PUBLIC_ADDRESS, '::ffff:10.0.0.5'],
  ],
  ['plain http', 'http://second.example/?secret', [PUBLIC_ADDRESS]],
  ['a file', 'file:///etc/passwd?secret', []],
  ['data', 'data:video/mp4,secret', []],
  ['ftp', 'ftp://second.example/?secret', [PUBLIC_ADDRESS]],
  ['a user name and a password', 'https://user:secret@second.example/', [PUBLIC_ADDRESS]],
  ['a user name alone', 'https://secret@second.example/', [PUBLIC_ADDRESS]],
  ['no url', 'https://[secret', []],
  ['too long', `https://second.example/${'secret'.repeat(2_000)}`, [PUBLIC_ADDRESS]],
]

describe('a download through redirects', () => {
  it.each(
    BAD_HOPS.flatMap(([name, location, answer]) => [1, 2, 3].map((hop) => [name, hop, location, answer] as const)),
  )('that is sent to %s at hop %i is refused there', async (_name, hop, location, answer) => {
    const good = Array.from({ length: hop - 1 }, (_, index) => `https://hop-${index + 2}.example/v`)
    const { port, visits } = await serveHops(...good, location)
    const checked = Array.from({ length: hop }, () => [PUBLIC_ADDRESS])
    const network = fakeNetwork([...checked, answer], port, PUBLIC_ADDRESS)
    expect(await failureOf(command('https://hop-1.example/v', network))).toBeInstanceOf(DownloadRefusedError)
    expect(visits).toHaveLength(hop)
    expect(network.dialled).toHaveLength(hop)
  })

  it('asks each name once, in order, and no fifth host', async () => {
    const hops = [2, 3, 4, 5].map((number) => `https://hop-${number}.example/v`)
    const { port, visits } = await serveHops(...hops)
    const network = fakeNetwork([[PUBLIC_ADDRESS]], port, PUBLIC_ADDRESS)
    expect(await failureOf(command('https://hop-1.example/v', network))).toBeInstanceOf(DownloadRefusedError)
    expect(network.resolved).toStrictEqual(['hop-1.example', 'hop-2.example', 'hop-3.example', 'hop-4.example'])
    expect(visits).toStrictEqual(network.resolved.map((host) => `${host}/v`))
  })
})

describe('a result that its upstream moved', () => {
  it('is followed from a public host into a trusted origin, both of the choice of the upstream', async () => {
    const { port, visits } = await serveHops('http://inside.example/v')
    const network = fakeNetwork([[PUBLIC_ADDRESS], ['10.0.0.5']], port, PUBLIC_ADDRESS)
    const trusting = { ...command('https://public.example/v', network), trustedOrigins: ['http://inside.example'] }
    expect((await download(trusting)).toString()).toBe('video')
    expect(visits).toEqual(['public.example/v', 'inside.example/v'])
  })
})
