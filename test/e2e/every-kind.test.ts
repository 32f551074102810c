import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually, type Received, startReceiver, startReferenceFiles } from './video-client.ts'

/** One job of every kind and route: what is asked, and what it costs to the millionth. */
const KINDS = [
  {
    name: 'P1 text to video',
    body: { model: 'famB-1.1-t2v', duration: 3, resolution: '480p' },
    cost: '0.21',
    shape: 'output',
  },
  {
    name: 'P1 image to video',
    body: { model: 'famB-1.1-i2v', image_url: 'https://in.example.test/a.png' },
    cost: '0.7',
    shape: 'output',
  },
  {
    name: 'P1 references to video',
    body: {
      model: 'famB-1.0-r2v',
      image_urls: ['https://in.example.test/a.png', 'https://in.example.test/b.png'],
      resolution: '1080P',
      aspect_ratio: '1:1',
    },
    cost: '1.2',
    shape: 'output',
  },
  {
    name: 'P1 video edit, billed for input and output',
    body: { model: 'famB-1.0-video-edit', video_urls: ['https://in.example.test/a.mp4'] },
    cost: '1.68',
    shape: 'output',
  },
  { name: 'P2 direct, 2.x', body: { model: 'famA-2' }, cost: '0.7623', shape: 'content' },
  {
    name: 'P2 direct, 1.x',
    body: { model: 'famA-1-pro', duration: 4, resolution: '480P' },
    cost: '0.098213',
    shape: 'content',
  },
  {
    name: 'P2 direct, multimodal references',
    body: {
      model: 'famA-2',
      image_urls: ['https://in.example.test/a.png'],
      video_urls: ['https://in.example.test/a.mp4'],
      audio_urls: ['https://in.example.test/a.mp3'],
    },
    cost: undefined,
    shape: 'content',
  },
  {
    name: 'P2 international',
    body: { model: 'famA-2-0-260128', aspect_ratio: '9:16' },
    cost: '0.7623',
    shape: 'content',
  },
  { name: 'P2 proxy', body: { model: 'famA-2-lite' }, cost: '0.38115', shape: 'data' },
] as const

/** Each model on the route that it is to be tried on. */
const oneRouteEach = (yaml: string) =>
  yaml
    .replace('      famA-2-0-260128: famA-2-0-260128\n', '')
    .replace(
      '      famA-2-lite: famA-2-lite\n      famA-2-pro: famA-2-0-260128\n      famA-1-lite',
      '      famA-2-pro: famA-2-0-260128\n      famA-1-lite',
    )
    .replace('      famA-2-lite: intl-famA-2-lite\n', '')

describe('a video job of every kind, over HTTP against npm start', () => {
  let gateway: Gateway
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let files: Awaited<ReturnType<typeof startReferenceFiles>>
  let webhookSecret: string

  beforeAll(async () => {
    receiver = await startReceiver()
    files = await startReferenceFiles()
    const trustFiles = (yaml: string) => yaml.replace('trusted_origins: []', `trusted_origins: ["${files.origin}"]`)
    gateway = await startGateway({
      callbackOrigins: [receiver.origin],
      changeConfig: (yaml) => oneRouteEach(trustFiles(yaml)),
    })
    const tenant = await gateway.admin('tenant', 'show', '--tenant', 'demo', '--show-secret')
    webhookSecret = String(Object(tenant).webhook_secret)
  })

  afterAll(async () => {
    await gateway.stop()
    await Promise.all([receiver.close(), files.close()])
  })

  /** References of P1 are looked at before the submit, so they lie where they can be. */
  const withFiles = (body: object): object =>
    JSON.stringify(body).includes('famB-')
      ? JSON.parse(JSON.stringify(body).replaceAll('https://in.example.test', files.origin))
      : body

  it.concurrent.each(KINDS)(
    '$name: created, polled, listed, downloaded, called back, billed, deleted',
    async ({ body, cost, shape }) => {
      const created = await gateway.api.create({
        prompt: 'a cat runs on grass',
        ...withFiles(body),
        callback_url: `${receiver.origin}/cb`,
      })
      expect(created.status).toBe(201)
      expect(created.json).toMatchObject({ object: 'video.generation', status: 'queued', model: body.model })
      const id = String(created.json.id)

      const job = await gateway.api.until(id, 'succeeded', 'failed')
      expect(job).toMatchObject({ id, status: 'succeeded', model: body.model })
      expect(job).toHaveProperty(shape)
      expect(Number(job.expires_at) - Number(job.created_at)).toBe(604_800)
      expect((await gateway.api.list('?limit=100')).text).toContain(id)

      await downloadInParts(String(job.url), Number(job.duration_secs))

      const [callback] = await eventually(
        async () => callbacksOf(id, receiver.received),
        (found) => found.length > 0,
      )
      await new OpenAI({ apiKey: 'unused', webhookSecret }).webhooks.unwrap(
        callback?.body ?? '',
        callback?.headers ?? {},
      )
      expect(JSON.parse(callback?.body ?? '')).toEqual({
        id,
        status: 'succeeded',
        url: job.url,
        duration_secs: job.duration_secs,
      })

      const rows = await ledgerRows(gateway, id)
      expect(rows.map(({ kind }) => kind)).toEqual(['settle', 'reserve'])
      if (cost !== undefined) {
        expect(rows[0]?.actual).toBe(cost)
      }
      expect(Number(rows[1]?.amount)).toBeGreaterThanOrEqual(Number(rows[0]?.actual))

      expect((await gateway.api.delete(id)).text).toBe('{"deleted":true}')
      expect((await gateway.api.get(id)).status).toBe(404)
      expect((await fetch(String(job.url))).status).toBe(403)
      expect(callbacksOf(id, receiver.received)).toHaveLength(1)
    },
  )

  it('a reference outside the limits of its model fails its job with a message, without a bill and with one callback', async () => {
    const image_url = `${files.origin}/flat.png?signature=secret`
    const callback_url = `${receiver.origin}/cb`
    const created = await gateway.api.create({ model: 'famB-1.1-i2v', prompt: 'a cat', image_url, callback_url })
    const id = String(created.json.id)
    const job = await gateway.api.until(id, 'succeeded', 'failed')
    const words = 'has 900x300 pixels; the longer side may be 2.5 times the shorter one at most'
    expect(job).toMatchObject({ status: 'failed', error: `image_urls[0] (flat.png) ${words}` })
    expect((await ledgerRows(gateway, id)).map(({ kind }) => kind)).toEqual(['release', 'reserve'])
    const [callback] = await eventually(
      async () => callbacksOf(id, receiver.received),
      (found) => found.length > 0,
    )
    expect(JSON.parse(callback?.body ?? '')).toEqual({ id, status: 'failed', error: job.error })
    expect(files.ranges).toContain('/flat.png?signature=secret bytes=0-65535')
  })

  it('breaks no invariant of the ledger', async () => {
    expect(await gateway.admin('ledger', 'verify')).toMatchObject({ ok: true, broken: [] })
  })
})

async function downloadInParts(url: string, seconds: number): Promise<void> {
  const whole = await fetch(url)
  const bytes = Buffer.from(await whole.arrayBuffer())
  expect(whole.headers.get('content-type')).toBe('video/mp4')
  expect(bytes.subarray(4, 8).toString()).toBe('ftyp')
  expect(seconds).toBeGreaterThan(0)
  const part = await fetch(url, { headers: { range: `bytes=100-${bytes.length - 1}` } })
  expect(part.status).toBe(206)
  expect(part.headers.get('content-range')).toBe(`bytes 100-${bytes.length - 1}/${bytes.length}`)
  expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100))).toBe(true)
  expect((await fetch(url, { headers: { range: `bytes=${bytes.length}-` } })).status).toBe(416)
  expect((await fetch(url.replace(/Expires=(\d)/, 'Expires=9$1'))).status).toBe(403)
}

function callbacksOf(id: string, received: readonly Received[]): Received[] {
  return received.filter(({ body }) => body.includes(id))
}

type Row = { kind: string; job: string; amount: string; actual: string | null }

async function ledgerRows(gateway: Gateway, id: string): Promise<Row[]> {
  const answer = await gateway.admin('ledger', '--tenant', 'demo', '--limit', '1000')
  const entries: Row[] = Object(answer).entries
  return entries.filter(({ job }) => job === id)
}
