import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { formatApiKey } from '#core/api-key.ts'
import { MODEL_ROWS, type ModelRow, smallestBody, urls } from '../core/interface-tables.ts'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'
import type { VideoApi } from '../e2e/video-client.ts'
import { listenHttp } from '../platform/http/loopback.ts'
import { vectorsOf } from '../upstream/guard/ssrf-vectors.ts'
import { rawRequest } from './faulty-connections.ts'

describe('http wire', () => {
  const KEY = 'e2e-key'
  const GOOD = JSON.stringify({ model: 'famB-1.1-t2v', prompt: 'a cat' })
  const OURS = formatApiKey('Ab3dEf9h', 'k'.repeat(32))

  let gateway: Gateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(async () => {
    await gateway.stop()
  })

  type Piece = string | Uint8Array

  /** One create, written by hand. */
  function create({ lines, body }: { lines: readonly Piece[]; body: readonly Piece[] }) {
    const head = ['POST /v1/video/generations HTTP/1.1', 'Host: localhost', 'Connection: close', ...lines]
    const pieces = head.flatMap((line) => [Buffer.from(line), Buffer.from('\r\n')])
    return rawRequest(gateway.url, Buffer.concat([...pieces, Buffer.from('\r\n')]), ...body)
  }

  const length = (bytes: number) => `Content-Length: ${bytes}`
  const withKeys = (...lines: readonly Piece[]) => create({ lines: [length(2), ...lines], body: ['{}'] })
  const withBody = (body: Piece, ...lines: readonly Piece[]) =>
    create({ lines: [`Authorization: Bearer ${KEY}`, length(Buffer.byteLength(body)), ...lines], body: [body] })

  const SEND_BEARER = 'send it as `Authorization: Bearer <key>`'
  const BODIES_OF_BAD_KEYS = [
    { error: 'invalid api key' },
    ...[SEND_BEARER, `${SEND_BEARER}, not in \`x-api-key\``].map((message) => ({
      error: 'invalid api key',
      details: [{ path: '', message }],
    })),
  ].map((body) => JSON.stringify(body))

  describe('raw HTTP: keys', () => {
    it.each<[string, readonly Piece[]]>([
      ['missing', []],
      ['empty', ['Authorization:']],
      ['a scheme alone', ['Authorization: Bearer']],
      ['a scheme and a space', ['Authorization: Bearer ']],
      ['without a scheme', [`Authorization: ${KEY}`]],
      ['of another scheme', [`Authorization: Basic ${KEY}`]],
      ['behind two spaces', [`Authorization: Bearer  ${KEY}`]],
      ['behind a tab', [`Authorization: Bearer\t${KEY}`]],
      ['in quotes', [`Authorization: Bearer "${KEY}"`]],
      ['with a word behind it', [`Authorization: Bearer ${KEY} x`]],
      ['sent twice', [`Authorization: Bearer ${KEY}`, `Authorization: Bearer ${KEY}`]],
      ['sent twice in two spellings', [`Authorization: Bearer ${KEY}`, `AUTHORIZATION: Bearer ${KEY}`]],
      ['sent twice in one line', [`Authorization: Bearer ${KEY}, Bearer ${KEY}`]],
      ['unknown', ['Authorization: Bearer other']],
      ['unknown, of our form', [`Authorization: Bearer ${OURS}`]],
      ['with a wrong checksum', [`Authorization: Bearer ${OURS.slice(0, -1)}x`]],
      ['cut', [`Authorization: Bearer ${OURS.slice(0, -1)}`]],
      ['of ten kilobytes', [`Authorization: Bearer ${'k'.repeat(10_240)}`]],
      ['in another alphabet', [Buffer.from('Authorization: Bearer 钥匙')]],
      ['in Latin-1', [Buffer.from('Authorization: Bearer sch\u00fcssel', 'latin1')]],
      ['in a header of another name', [`X-Api-Key: ${KEY}`]],
    ])('a bad key (%s) gets one 401, and advice where no key could be read', async (_, lines) => {
      const { status, headers, body } = await withKeys(...lines)
      const { 'x-request-id': requestId, date: _date, 'openai-processing-ms': _timing, ...rest } = headers
      expect(BODIES_OF_BAD_KEYS).toContain(body)
      expect({ status, rest }).toEqual({
        status: 401,
        rest: {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
          'x-content-type-options': 'nosniff',
          'x-should-retry': 'false',
          connection: 'close',
        },
      })
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
    })

    it.each([
      `Authorization: bearer ${KEY}`,
      `authorization: BEARER ${KEY}`,
      `AUTHORIZATION: Bearer ${KEY}`,
      `Authorization:   Bearer ${KEY}  `,
    ])(
      'a valid key (%s) is accepted: names of headers and schemes are case-insensitive, and surrounding spaces are ignored',
      async (line) => {
        // The body lacks everything, which is told only to a caller who may know.
        expect(await withKeys(line)).toMatchObject({
          status: 400,
          body: expect.stringContaining('invalid request body'),
        })
      },
    )

    it.each<[string, Piece, number]>([
      ['a NUL', `Authorization: Bearer ${KEY}\0`, 400],
      ['a bare line feed', `Authorization: Bearer ${KEY}\nX: y`, 400],
      ['a folded line', `Authorization: Bearer\r\n ${KEY}`, 400],
      ['more than a server takes', `Authorization: Bearer ${'k'.repeat(20_000)}`, 431],
    ])('an invalid HTTP header (%s) never reaches the gateway', async (_, line, status) => {
      expect(await withKeys(line)).toMatchObject({
        status,
        headers: { 'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/), 'content-type': 'application/json' },
        body: expect.stringContaining('"request refused"'),
      })
    })

    it('a bad key is reported before a bad body', async () => {
      expect((await create({ lines: ['Authorization: Bearer other', length(1)], body: ['{'] })).status).toBe(401)
    })
  })

  const MEGABYTE = 1024 * 1024

  /** A good body whose prompt holds these bytes. */
  const goodWith = (...bytes: number[]) =>
    Buffer.concat([Buffer.from(GOOD.slice(0, -2)), Buffer.from(bytes), Buffer.from('"}')])

  const INTERFACE_BODY = /^\{"error":"invalid request body","details":\[\{"path":"[a-z_.0-9]*","message":"[^"]+"\}/

  describe('raw HTTP: bodies', () => {
    it.each<[string, Piece]>([
      ['empty', ''],
      ['null', 'null'],
      ['an empty list', '[]'],
      ['a text', '"a cat"'],
      ['a number', '1e400'],
      ['malformed', '{"model":'],
      ['two objects', `${GOOD}${GOOD}`],
      [
        'good but for a member that nests deeper than 32 levels',
        `${GOOD.slice(0, -1)},"x":${'['.repeat(32)}${']'.repeat(32)}}`,
      ],
      ['a million open brackets', '['.repeat(1_000_000)],
      ['a million nested objects', '{"a":'.repeat(1_000_000)],
      ['a byte order mark alone', '\ufeff'],
      ['UTF-16', Buffer.from(GOOD, 'utf16le')],
      ['good but for a byte that is no UTF-8', goodWith(0xff)],
      ['good but for half of a character', goodWith(0xe7, 0xba)],
      ['good but for a surrogate half in UTF-8', goodWith(0xed, 0xa0, 0x80)],
      ['a surrogate half as an escape', '{"model":"famB-1.1-t2v","prompt":"\\ud800"}'],
      ['a surrogate half in the model', '{"model":"\\udfff","prompt":"x"}'],
      ['a form', 'model=famB-1.1-t2v&prompt=x'],
      ['five megabytes of spaces', ' '.repeat(5 * MEGABYTE)],
    ])('an invalid body (%s) gets a 400 in the declared shape', async (_, body) => {
      const answer = await withBody(body)
      expect(answer).toMatchObject({ status: 400, headers: { 'content-type': 'application/json' } })
      expect(answer.body).toMatch(INTERFACE_BODY)
    })

    it.each<[string, Piece]>([
      ['gzip', gzipSync(GOOD)],
      ['gzip', GOOD],
      ['br', GOOD],
      ['identity, deflate', GOOD],
    ])('a body with a content encoding (%s) gets a 400 in the declared shape', async (coding, body) => {
      const answer = await withBody(body, `Content-Encoding: ${coding}`)
      expect(answer.status).toBe(400)
      expect(answer.body).toMatch(INTERFACE_BODY)
    })

    it.each<[string, string, Piece]>([
      ['junk in place of a chunk', 'Transfer-Encoding: chunked', `zz\r\n${GOOD}\r\n0\r\n\r\n`],
      [
        'junk behind a good chunk',
        'Transfer-Encoding: chunked',
        `${GOOD.length.toString(16)}\r\n${GOOD}\r\nQQ\r\n0\r\n\r\n`,
      ],
      ['a chunk of absurd size', 'Transfer-Encoding: chunked', `fffffffffffffffff\r\n${GOOD}`],
      ['two lengths', 'Content-Length: 3\r\nContent-Length: 4', 'abcd'],
      ['a length and chunks', 'Content-Length: 3\r\nTransfer-Encoding: chunked', '0\r\n\r\n'],
      ['a negative length', 'Content-Length: -1', GOOD],
      ['a length that is no number', 'Content-Length: ten', GOOD],
    ])('a body with invalid HTTP framing (%s) gets a 400', async (_, line, body) => {
      const answer = await create({ lines: [`Authorization: Bearer ${KEY}`, line], body: [body] })
      expect(answer.status).toBe(400)
    })

    it('a body above 5 MB gets a 413 of the route, above 10 MB one of the platform, with a length or chunked', async () => {
      const large = await withBody(Buffer.alloc(5 * MEGABYTE + 1, 0x20))
      expect(large).toMatchObject({ status: 413, body: '{"error":"request body too large"}' })
      // Not a byte more than decides it: what a server leaves unread may reset the connection under its answer.
      const huge = Buffer.alloc(10 * MEGABYTE + 1, 0x20)
      const size = `${huge.length.toString(16)}\r\n`
      const chunked = ['Transfer-Encoding: chunked', `Authorization: Bearer ${KEY}`]
      const answers = [await withBody(huge), await create({ lines: chunked, body: [size, huge] })]
      for (const { status, body } of answers) {
        expect(status).toBe(413)
        expect(body).toContain('"message":"request body too large"')
      }
    })

    it.each<[string, Piece, string]>([
      ['behind a byte order mark', `\ufeff${GOOD}`, 'Content-Type: application/json'],
      ['with a wrong content type', GOOD, 'Content-Type: application/xml'],
      ['with an odd content type', GOOD, 'Content-Type: \u00fc;;=,'],
      ['with another charset', GOOD, 'Content-Type: application/json; charset=iso-8859-1'],
    ])('valid JSON in UTF-8 (%s) creates a job', async (_, body, line) => {
      expect(await withBody(body, line)).toMatchObject({
        status: 201,
        body: expect.stringContaining('"status":"queued"'),
      })
    })

    it('no body leaves the gateway in a changed state', async () => {
      expect((await gateway.api.list()).status).toBe(200)
      expect(gateway.process.exitCode).toBeNull()
      expect(gateway.output()).not.toMatch(/request failed|internal error/i)
    })
  })
})

describe('http parameters', () => {
  const MODEL = 'famB-1.1-t2v'

  let gateway: Gateway
  /** The api of a tenant with next to no money: what is valid gets as far as the balance and makes no job. */
  let poor: VideoApi
  beforeAll(async () => {
    gateway = await startGateway()
    const tenant = Object(await gateway.admin('tenant', 'create', '--name', 'Poor', '--credits', '0.000001'))
    poor = gateway.api.withKey(
      Object(await gateway.admin('key', 'create', '--tenant', tenant.id, '--rate', 'none')).key,
    )
  })
  afterAll(async () => {
    await gateway.stop()
  })

  const VALID = { status: 402, error: 'insufficient quota for this video generation' }

  /** A body as JSON text, so that numbers keep the form in which they are written. */
  const bodyOf = (members: string) => `{"model":"${MODEL}","prompt":"a cat",${members}}`

  async function expectValid(body: unknown): Promise<void> {
    const { status, json } = await poor.create(body)
    expect({ status, error: json.error }).toEqual(VALID)
  }

  async function expectRefused(body: unknown, path: string): Promise<void> {
    const { status, json } = await poor.create(body)
    expect({ status, json }).toEqual({
      status: 400,
      json: { error: 'invalid request body', details: [{ path, message: expect.any(String) }] },
    })
  }

  describe('duration over HTTP', () => {
    it.each(['3', '15', '5.0', '1e1', '0.3e1'])('%s is valid', (json) => expectValid(bodyOf(`"duration":${json}`)))

    it.each(['2', '16', '5.5', '"5"', '-0', '0', '-5', 'null', 'true', '[5]', '{}', '1e400', '5.0000000001'])(
      '%s is refused',
      (json) => expectRefused(bodyOf(`"duration":${json}`), 'duration'),
    )
  })

  describe('resolution over HTTP', () => {
    it.each(['480p', '480P', '720p', '1080P'])('%j is valid', (text) => expectValid(bodyOf(`"resolution":"${text}"`)))

    it.each(['" 720P"', '"720P "', '"720"', '"4K"', '"７20P"', '""', '720', 'null', '["720P"]'])(
      '%s is refused',
      (json) => expectRefused(bodyOf(`"resolution":${json}`), 'resolution'),
    )
  })

  /** Three code points of two people and a joiner: five, whatever a screen makes of them. */
  const FAMILY = '👩‍👩‍👧'

  describe('a prompt over HTTP', () => {
    it.each([
      ['2500 Han characters', '纸'.repeat(2500)],
      ['5000 Latin characters', 'a'.repeat(5000)],
      ['1250 Han and 2500 Latin characters', '纸'.repeat(1250) + 'a'.repeat(2500)],
      ['1000 families of five code points', FAMILY.repeat(1000)],
      ['5000 emoji', '😀'.repeat(5000)],
      ['a word between spaces', '  a  '],
    ])('of %s is valid', (_, prompt) => expectValid({ model: MODEL, prompt }))

    it.each([
      ['2501 Han characters', '纸'.repeat(2501)],
      ['5001 Latin characters', 'a'.repeat(5001)],
      ['1250 Han and 2501 Latin characters', '纸'.repeat(1250) + 'a'.repeat(2501)],
      ['2501 full-width letters', 'Ａ'.repeat(2501)],
      ['1000 families and one letter', `${FAMILY.repeat(1000)}a`],
      ['nothing', ''],
      ['spaces alone', '   '],
      ['ideographic spaces and line breaks alone', '\u3000\n\u3000'],
    ])('of %s is refused', (_, prompt) => expectRefused({ model: MODEL, prompt }, 'prompt'))
  })

  describe.each(MODEL_ROWS)('references of $id over HTTP', (row) => {
    it.each([0, 1, 9, 10])('%i images are valid only if the model accepts them', (count) => {
      const body = { ...smallestBody(row), image_urls: urls(count) }
      const [least, most] = row.images
      return count >= least && count <= most ? expectValid(body) : expectRefused(body, 'image_urls')
    })
  })

  describe('a reference over HTTP', () => {
    const row = MODEL_ROWS.find(({ id }) => id === 'famB-1.1-i2v') as ModelRow
    const withImage = (url: unknown) => ({ ...smallestBody(row), image_urls: [url] })
    const withVideo = (url: unknown) => ({ model: 'famB-1.0-video-edit', prompt: 'x', video_urls: [url] })

    it.each([
      ['http', 'http://media.example.com/a.png'],
      ['an address', 'https://203.0.113.7/a.png'],
      ['an address of the inside, which only the upstream could ever ask', 'http://169.254.169.254/latest/meta-data/'],
      ['an image in the request', 'data:image/png;base64,iVBORw0KGgo='],
      ['an image of three megabytes in the request', `data:image/png;base64,${'A'.repeat(3_000_000)}`],
    ])('by %s is valid', (_, url) => expectValid(withImage(url)))

    it.each([
      ['data that is no image', 'data:text/html;base64,AAAA'],
      ['data that is not base64', 'data:image/svg+xml,<svg/>'],
      ['a file', 'file:///etc/passwd'],
      ['ftp', 'ftp://media.example.com/a.png'],
      ['a text', 'a.png'],
      ['nothing', ''],
      ['a link of three megabytes', `https://media.example.com/${'a'.repeat(3_000_000)}`],
      ['a number', 5],
      ['null', null],
    ])('by %s is refused', (_, url) => expectRefused(withImage(url), 'image_urls.0'))

    it('by an inline image is refused where a video is required', () =>
      expectRefused(withVideo('data:image/png;base64,AAAA'), 'video_urls.0'))

    it('is not fetched by the gateway, from the request to the stored video', async () => {
      const media = await listenHttp((_request, response) => response.end('image'))
      try {
        const { status, json } = await gateway.api.create(withImage(`${media.origin}/a.png`))
        expect(status).toBe(201)
        expect(await gateway.api.until(String(json.id), 'succeeded', 'failed')).toMatchObject({ status: 'succeeded' })
        expect(media.sockets).toHaveLength(0)
      } finally {
        await media.stop()
      }
    })
  })

  describe('a callback url over HTTP', () => {
    it.each(vectorsOf('url'))(
      'is accepted or refused as listed at the creation of the job: $id, $why',
      ({ url, allow }) => {
        const body = { model: MODEL, prompt: 'a cat', callback_url: url }
        return allow ? expectValid(body) : expectRefused(body, 'callback_url')
      },
    )

    it.each([...vectorsOf('connect'), ...vectorsOf('redirect')])(
      'is checked when the callback is sent: $id, $why',
      ({ url }) => expectValid({ model: MODEL, prompt: 'a cat', callback_url: url }),
    )
  })

  describe('a listing over HTTP', () => {
    /** One more than a page has when nobody says how long it shall be; they wait, so that they cost nothing meanwhile. */
    const JOBS = 21
    const ids = async (query: string): Promise<string[]> => {
      const { status, json } = await gateway.api.list(query)
      expect(status).toBe(200)
      return Object(json.data).map(({ id }: { id: string }) => id)
    }
    let all: string[]
    beforeAll(async () => {
      const body = { model: MODEL, prompt: '[queue:3600] a cat' }
      await Promise.all(Array.from({ length: JOBS }, () => gateway.api.create(body)))
      all = await ids('?limit=100')
      expect(all.length).toBeGreaterThanOrEqual(JOBS)
    })

    it.each(['limit=0', 'limit=-1', 'limit=abc', 'limit=', 'limit=1e9', 'limit=5.5', 'limit=%20', ''])(
      'with %j returns the default of twenty jobs',
      async (query) => expect(await ids(`?${query}`)).toEqual(all.slice(0, 20)),
    )

    it.each(['limit=101', 'limit=1000000000', 'limit=99999999999999999999'])(
      'with %s returns up to a hundred jobs',
      async (query) => expect(await ids(`?${query}`)).toEqual(all),
    )

    it.each([
      ['limit=2', 0, 2],
      ['limit=2&offset=1', 1, 3],
      ['limit=2&offset=-1', 0, 2],
      ['limit=2&offset=abc', 0, 2],
      ['limit=2&offset=1e9', 0, 2],
      ['limit=2&offset=10000', 0, 0],
      ['limit=1&limit=3', 0, 3],
    ])('with %s returns that range', async (query, from, to) =>
      expect(await ids(`?${query}`)).toEqual(all.slice(from, to)),
    )

    it.each(['10001', '1000000000000', '99999999999999999999'])('with the offset %s is refused', async (offset) => {
      const { status, json } = await gateway.api.list(`?offset=${offset}`)
      expect(status).toBe(400)
      expect(json).toEqual({
        error: 'invalid request body',
        details: [{ path: 'offset', message: expect.stringContaining('10000') }],
      })
    })
  })
})
