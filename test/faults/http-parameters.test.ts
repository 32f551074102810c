import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listenHttp } from '../adapters/outbound/loopback.ts'
import { vectorsOf } from '../adapters/outbound/ssrf-vectors.ts'
import { MODEL_ROWS, type ModelRow, smallestBody, urls } from '../core/interface-tables.ts'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'
import type { VideoApi } from '../e2e/video-api.ts'

const MODEL = 'famB-1.1-t2v'

let gateway: Gateway
/** The api of a tenant with next to no money: what is valid gets as far as the balance and makes no job. */
let poor: VideoApi
beforeAll(async () => {
  gateway = await startGateway()
  const tenant = Object(await gateway.admin('tenant', 'create', '--name', 'Poor', '--credits', '0.000001'))
  poor = gateway.api.withKey(Object(await gateway.admin('key', 'create', '--tenant', tenant.id, '--rate', 'none')).key)
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
