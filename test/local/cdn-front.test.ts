import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import type { OutgoingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { allowScripts, type CdnKey, createCdnFront, isSignedUrlValid, openCdnKey } from '#local/cdn-front.ts'
import { createUrlSigner, type UrlSigner } from '#platform/cdn/video-urls.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { startTestBucket } from '../engines/test-bucket.ts'
import { CLIP } from '../engines/test-servers.ts'
import { useOpened } from '../engines/use-opened.ts'

describe('cdn front', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = {
    keyPairId: 'K1',
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }

  const JOB = { videoKey: 'v/00ff/job.mp4', expiresAt: Math.trunc(Date.now() / 1000) + 3600 }

  const APP = 'https://app.example.com'
  /** The front reads them at each request. */
  const corsOrigins: string[] = []

  const bucket = useOpened(startTestBucket)
  let server: HttpServer
  let sign: UrlSigner
  beforeAll(async () => {
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      AWS_ENDPOINT_URL_S3: bucket.endpoint,
    })
    let baseUrl = ''
    const answer = createCdnFront({ bucketName: bucket.bucket.name, key, baseUrl: () => baseUrl, corsOrigins })
    server = await listen((request, response) => {
      answer(request, response).catch(() => response.destroy())
    }, 0)
    baseUrl = `http://127.0.0.1:${server.port}`
    sign = createUrlSigner({ baseUrl, keyPairId: key.keyPairId, privateKeyPem: key.privateKeyPem })
    await bucket.bucket.client.send(
      new PutObjectCommand({ Bucket: bucket.bucket.name, Key: JOB.videoKey, Body: CLIP, ContentType: 'video/mp4' }),
    )
  })
  afterAll(async () => {
    await server.close()
  })

  const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer())

  describe('the video behind a signed url', () => {
    it('comes whole, as a video, and says that ranges may be asked for', async () => {
      const answer = await fetch(sign(JOB))
      expect(answer.status).toBe(200)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'video/mp4',
        'content-length': String(CLIP.length),
        'accept-ranges': 'bytes',
        'x-content-type-options': 'nosniff',
      })
      expect((await bytesOf(answer)).equals(CLIP)).toBe(true)
    })

    it.each([
      ['bytes=0-99', 0, 100],
      ['bytes=100-', 100, CLIP.length],
      ['bytes=-50', CLIP.length - 50, CLIP.length],
      ['bytes=-999999999', 0, CLIP.length],
    ])('comes in part for the range %s', async (range, from, to) => {
      const answer = await fetch(sign(JOB), { headers: { range } })
      expect(answer.status).toBe(206)
      expect(answer.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/${CLIP.length}`)
      expect((await bytesOf(answer)).equals(CLIP.subarray(from, to))).toBe(true)
    })

    it('has no range beyond its end', async () => {
      const answer = await fetch(sign(JOB), { headers: { range: `bytes=${CLIP.length + 1}-` } })
      expect(answer.status).toBe(416)
    })

    it('tells its length without its bytes to a HEAD', async () => {
      const answer = await fetch(sign(JOB), { method: 'HEAD' })
      expect(answer.headers.get('content-length')).toBe(String(CLIP.length))
      expect((await bytesOf(answer)).length).toBe(0)
    })

    it('is refused in the same words without a signature, after its end, by another method, and when it is not there', async () => {
      const refusals = await Promise.all([
        fetch(sign(JOB).replace(/\?.*/, '')),
        fetch(sign({ ...JOB, expiresAt: 1_000_000_000 })),
        fetch(sign(JOB), { method: 'POST' }),
        fetch(sign({ ...JOB, videoKey: 'v/00ff/missing.mp4' })),
      ])
      expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403, 403])
      expect(new Set(await Promise.all(refusals.map((answer) => answer.text()))).size).toBe(1)
    })
  })

  describe('a script of another origin', () => {
    const preflight = (url: string, origin = APP) =>
      fetch(url, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'if-range' },
      })

    it('gets nothing where the configuration allows none', async () => {
      expect((await preflight(sign(JOB))).status).toBe(403)
      const { headers } = await fetch(sign(JOB), { headers: { origin: APP } })
      expect([...headers.keys()].join()).not.toMatch(/access-control|vary/)
    })

    it('reads a video, and a refusal of the bucket, where its origin is allowed', async () => {
      corsOrigins.push(APP)
      try {
        const missing = sign({ ...JOB, videoKey: 'v/00ff/missing.mp4' })
        const answers = await Promise.all([
          preflight(sign(JOB)),
          fetch(sign(JOB), { headers: { origin: APP } }),
          fetch(missing, { headers: { origin: APP } }),
          preflight(sign(JOB), 'https://other.example'),
          fetch(sign(JOB), { headers: { origin: 'https://other.example' } }),
          // CloudFront refuses this by itself, without a word about origins.
          fetch(sign(JOB).replace(/\?.*/, ''), { headers: { origin: APP } }),
        ])
        expect(answers.map(({ status, headers }) => [status, headers.get('access-control-allow-origin')])).toEqual([
          [200, APP],
          [200, APP],
          [403, APP],
          [403, null],
          [200, null],
          [403, null],
        ])
        expect(answers[0]?.headers.get('access-control-allow-headers')).toBe('if-range')
      } finally {
        corsOrigins.length = 0
      }
    })
  })
})

describe('a signed url', () => {
  function newKey(keyPairId = 'K1'): CdnKey {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    return {
      keyPairId,
      privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    }
  }

  const KEY = newKey()
  const END = 1_800_000_000
  const sign = createUrlSigner({
    baseUrl: 'http://127.0.0.1:8787',
    keyPairId: KEY.keyPairId,
    privateKeyPem: KEY.privateKeyPem,
  })
  const SIGNED = sign({ videoKey: 'v/00ff/job.mp4', expiresAt: END })

  /** The signed url with one thing changed. */
  function changed(change: (url: URL) => void): string {
    const url = new URL(SIGNED)
    change(url)
    return url.href
  }

  const isValid = (url: string, now = END - 1) => isSignedUrlValid(url, KEY, now)

  it('is valid as it was signed, until the second before its end', () => {
    expect(isValid(SIGNED, 0)).toBe(true)
    expect(isValid(SIGNED, END - 0.001)).toBe(true)
  })

  it('has ended in the very second of its end', () => {
    expect(isValid(SIGNED, END)).toBe(false)
  })

  it('is the same every time for one job', () => {
    expect(sign({ videoKey: 'v/00ff/job.mp4', expiresAt: END })).toBe(SIGNED)
  })

  it.each<[string, (url: URL) => void]>([
    ['another path', (url) => (url.pathname = '/v/00ff/other.mp4')],
    ['another host', (url) => (url.host = 'localhost:8787')],
    ['a later end', (url) => url.searchParams.set('Expires', String(END + 1))],
    ['an end that is no number', (url) => url.searchParams.set('Expires', `${END}.5`)],
    ['no end', (url) => url.searchParams.delete('Expires')],
    [
      'another signature',
      (url) => url.searchParams.set('Signature', url.searchParams.get('Signature')?.replace(/^.{4}/, 'AAAA') ?? ''),
    ],
    ['no signature', (url) => url.searchParams.delete('Signature')],
    ['an empty signature', (url) => url.searchParams.set('Signature', '')],
    ['another key', (url) => url.searchParams.set('Key-Pair-Id', 'K2')],
    ['no key', (url) => url.searchParams.delete('Key-Pair-Id')],
  ])('with %s is not valid', (_, change) => {
    expect(isValid(changed(change))).toBe(false)
  })

  it('signed by somebody else under the same key id is not valid', () => {
    const other = newKey(KEY.keyPairId)
    const forged = createUrlSigner({
      baseUrl: 'http://127.0.0.1:8787',
      keyPairId: KEY.keyPairId,
      privateKeyPem: other.privateKeyPem,
    })
    expect(isValid(forged({ videoKey: 'v/00ff/job.mp4', expiresAt: END }))).toBe(false)
  })
})

describe('allowScripts', () => {
  const APP = 'https://app.example.com'

  function run(method: string, headers: Readonly<Record<string, string>>, allowed = [APP]) {
    const set: OutgoingHttpHeaders = {}
    const response = {
      setHeader(name: string, value: string | number) {
        set[name] = value
        return this
      },
    }
    // The response is used for its headers alone.
    return { isAllowed: allowScripts({ method, headers }, Object(response), allowed), set }
  }

  it.each(['GET', 'HEAD'])('lets an allowed origin read the response to a %s, and its range', (method) => {
    expect(run(method, { origin: APP })).toEqual({
      isAllowed: true,
      set: {
        vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
        'access-control-allow-origin': APP,
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-expose-headers': 'Accept-Ranges, Content-Length, Content-Range, ETag',
      },
    })
  })

  it('allows a preflight for reading, with the headers that it asks for', () => {
    const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'range' }
    expect(run('OPTIONS', { origin: APP, ...asked }, ['*'])).toMatchObject({
      isAllowed: true,
      set: {
        'access-control-allow-origin': '*',
        'access-control-allow-headers': 'range',
        'access-control-max-age': 7200,
      },
    })
  })

  it.each([
    ['GET', {}],
    ['GET', { origin: 'https://other.example' }],
    ['OPTIONS', { origin: APP }],
    ['OPTIONS', { origin: APP, 'access-control-request-method': 'PUT' }],
    ['OPTIONS', { origin: 'https://other.example', 'access-control-request-method': 'GET' }],
  ])('allows no %s with %j', (method, headers) => {
    const { isAllowed, set } = run(method, headers)
    expect([isAllowed, Object.keys(set)]).toEqual([false, ['vary']])
  })
})

describe('openCdnKey', () => {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-cdn-key-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const told: string[] = []
  jest.spyOn(console, 'error').mockImplementation((text) => void told.push(String(text)))

  it('returns the same key after a restart, from a file for its owner only', async () => {
    const file = join(directory, 'cdn-key.pem')
    expect(await openCdnKey(file)).toEqual(await openCdnKey(file))
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('makes a new key when its file is empty or cut, and reports the file without its content', async () => {
    const file = join(directory, 'cdn-key.pem')
    for (const length of [0, 300]) {
      truncateSync(file, length)
      expect((await openCdnKey(file)).publicKeyPem).toContain('BEGIN PUBLIC KEY')
    }
    expect(told).toHaveLength(2)
    expect(told[0]).toBe(
      `${file} holds no key: it is made anew, and urls of videos that were signed before are refused`,
    )
  })
})
