import { generateKeyPairSync } from 'node:crypto'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUrlSigner, type UrlSigner } from '#adapters/cdn/signed-url.ts'
import { type HttpServer, listen } from '#adapters/http-server/http-server.ts'
import { createCdnFront } from '#local/cdn-front.ts'
import { CLIP } from '../engines/result-files.ts'
import { startTestBucket } from '../engines/start-test-bucket.ts'
import { useOpened } from '../engines/use-opened.ts'

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
