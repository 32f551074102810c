import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHttpClient, type HttpClient } from '#adapters/http/http-client.ts'
import type { HttpRequest } from '#adapters/http/http-request.ts'
import { httpAnswer, type RawUpstream, startRawUpstream } from '../../relay/raw-upstream.ts'

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
