import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from '@jest/globals'
import { type MediaFile, type MediaFileCommand, readMediaFile } from '#upstream/guard/read-media-file.ts'
import { jpegFile, pngFile, videoFile } from '../../core/media-files.ts'
import { fakeNetwork, type Loopback, listenHttp } from '../../platform/http/loopback.ts'
import { type Misbehaviour, misbehave } from './misbehaving-servers.ts'

const size = { width: 640, height: 360 }
const PNG = Buffer.concat([pngFile(size), Buffer.alloc(500_000)])
const VIDEO = videoFile({}, 2_000_000)
const servers: Loopback[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

type Served = Loopback & { readonly ranges: (string | undefined)[] }

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Served> {
  const ranges: (string | undefined)[] = []
  const server = await listenHttp((request, response) => {
    ranges.push(request.headers.range)
    answer(request, response)
  })
  servers.push(server)
  return { ...server, ranges }
}

/** As a storage service answers a range. */
function sendRange(file: Buffer, { headers: { range = '' } }: IncomingMessage, response: ServerResponse): void {
  const [, start = 0, end = 0] = /bytes=(\d+)-(\d+)/.exec(range)?.map(Number) ?? []
  const last = Math.min(end, file.length - 1)
  response
    .writeHead(206, { 'content-range': `bytes ${start}-${last}/${file.length}` })
    .end(file.subarray(start, last + 1))
}

async function read(server: Loopback, more: Partial<MediaFileCommand> = {}): Promise<MediaFile> {
  const url = `${server.origin}/file?signature=secret`
  const found = await readMediaFile({ url, trustedOrigins: [server.origin], replyMilliseconds: 2000, ...more })
  expect(JSON.stringify(found)).not.toMatch(/secret|file\?/)
  return found
}

describe('reading the header of a file', () => {
  it('takes one range of an image, and its size from the answer', async () => {
    const server = await serve((request, response) => sendRange(PNG, request, response))
    expect(await read(server)).toEqual({ facts: { format: 'png', ...size, sizeBytes: PNG.length } })
    expect(server.ranges).toEqual(['bytes=0-65535'])
  })

  it('takes a second range where the movie box of a video lies at its end', async () => {
    const server = await serve((request, response) => sendRange(VIDEO, request, response))
    const facts = { format: 'mp4', seconds: 3, framesPerSecond: 24, sizeBytes: VIDEO.length }
    expect(await read(server)).toEqual({ facts })
    expect(server.ranges).toEqual(['bytes=0-65535', expect.stringMatching(/^bytes=2000\d\d\d-/)])
  })

  it('makes do with the beginning of the whole file where a server knows no ranges', async () => {
    const server = await serve((_, response) => response.writeHead(200, { 'content-length': PNG.length }).end(PNG))
    expect(await read(server)).toEqual({ facts: { format: 'png', ...size, sizeBytes: PNG.length } })
    const videos = await serve((_, response) => response.writeHead(200, { 'content-length': VIDEO.length }).end(VIDEO))
    const found = { facts: { format: 'mp4', sizeBytes: VIDEO.length }, unreadBecause: 'its header does not tell' }
    expect(await read(videos)).toEqual(found)
    expect(videos.ranges).toHaveLength(1)
  })

  it('knows no size where the server tells none', async () => {
    const server = await serve((_, response) => response.writeHead(200).end(PNG))
    expect(await read(server)).toEqual({ facts: { format: 'png', ...size } })
    const range = { 'content-range': 'bytes 0-65535/*' }
    const ranges = await serve((_, response) => response.writeHead(206, range).end(PNG.subarray(0, 65_536)))
    expect(await read(ranges)).toEqual({ facts: { format: 'png', ...size } })
  })

  it('gives up a picture behind more metadata than three ranges pass over', async () => {
    const server = await serve((request, response) =>
      sendRange(jpegFile(size, { metadata: 900_000 }), request, response),
    )
    expect(await read(server)).toMatchObject({ unreadBecause: 'its header does not tell' })
    expect(server.ranges).toHaveLength(3)
  })

  it('keeps what it knows when a later range does not come', async () => {
    const server = await serve((request, response) =>
      server.ranges.length === 1 ? sendRange(VIDEO, request, response) : response.writeHead(500).end(),
    )
    const facts = { format: 'mp4', sizeBytes: VIDEO.length }
    expect(await read(server)).toEqual({ facts, unreadBecause: 'the server said 500' })
  })

  it('follows redirects to trusted and public hosts alone', async () => {
    const file = await serve((request, response) => sendRange(PNG, request, response))
    const server = await serve((_, response) => response.writeHead(302, { location: `${file.origin}/moved` }).end())
    expect(await read(server, { trustedOrigins: [server.origin, file.origin] })).toMatchObject({ facts: size })
    expect(await read(server)).toEqual({ facts: {}, unreadBecause: 'only https is allowed' })
  })

  it.each(['http://inside.example:9400/cat.png', 'https://inside.example/cat.png'])(
    'is not led into a trusted origin by a host that is not: %s',
    async (location) => {
      const server = await serve((request, response) =>
        request.headers.host === 'public.example'
          ? response.writeHead(302, { location }).end()
          : sendRange(PNG, request, response),
      )
      const network = fakeNetwork([['93.184.215.14'], ['10.0.0.5']], server.port, '93.184.215.14')
      const trustedOrigins = [new URL(location).origin]
      const url = 'https://public.example/cat.png'
      const found = await readMediaFile({ url, trustedOrigins, replyMilliseconds: 2000, ...network })
      expect(found.facts).toEqual({})
      expect(found.unreadBecause).toMatch(/only https is allowed|an address that is not public/)
      expect([network.dialled.length, server.ranges.length]).toEqual([1, 1])
      const direct = { url: location, trustedOrigins, replyMilliseconds: 2000 }
      const inside = fakeNetwork([['10.0.0.5']], server.port)
      expect(await readMediaFile({ ...direct, ...inside })).toMatchObject({ facts: size })
    },
  )

  it('is not led back into a trusted origin that it came from, by way of another host', async () => {
    const server = await serve(({ headers, url }, response) => {
      const location = headers.host === 'public.example' ? 'http://inside.example/secret' : 'https://public.example/'
      response.writeHead(url === '/secret' ? 200 : 302, { location }).end()
    })
    const network = fakeNetwork([['10.0.0.5'], ['93.184.215.14'], ['10.0.0.5']], server.port, '93.184.215.14')
    const command = { trustedOrigins: ['http://inside.example'], replyMilliseconds: 2000, ...network }
    const found = await readMediaFile({ url: 'http://inside.example/cat.png', ...command })
    expect(found).toEqual({ facts: {}, unreadBecause: 'only https is allowed' })
    expect(server.ranges).toHaveLength(2)
  })

  it('connects to no private host', async () => {
    const network = fakeNetwork([['10.0.0.1']], 9)
    const url = 'https://inside.example/cat.png'
    const found = await readMediaFile({ url, trustedOrigins: [], replyMilliseconds: 2000, ...network })
    expect(found).toEqual({ facts: {}, unreadBecause: 'the host has an address that is not public' })
    expect(network.dialled).toEqual([])
  })

  it.each([
    [403, {}, 'the server said 403'],
    [404, {}, 'the server said 404'],
    [416, {}, 'the server said 416'],
    [200, { 'content-encoding': 'gzip' }, 'the file is compressed although this was not asked for'],
    [206, {}, 'the server sent another range'],
    [206, { 'content-range': 'bytes 5-65540/900000' }, 'the server sent another range'],
  ])('knows nothing of an answer with status %i and headers %j', async (status, headers, unreadBecause) => {
    const server = await serve((_, response) => response.writeHead(status, headers).end(PNG))
    expect(await read(server)).toEqual({ facts: {}, unreadBecause })
  })

  it.each<[Misbehaviour, string]>([
    ['silence', 'the time for the whole request is over'],
    ['dripping headers', 'the time for the whole request is over'],
    ['a dripping body', 'the bytes did not come'],
    ['a body without end', 'its header does not tell'],
  ])('is over in its time whatever a server does: %s', async (misbehaviour, unreadBecause) => {
    const server = await misbehave(misbehaviour)
    servers.push(server)
    expect(await read(server, { signal: AbortSignal.timeout(150) })).toMatchObject({ unreadBecause })
    await server.allClosed()
  })
})
