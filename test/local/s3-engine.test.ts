import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import {
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { EngineCredentials } from '#local/engine-credentials.ts'
import { type S3Engine, startS3Engine, sweepExpiredObjects } from '#local/s3-engine.ts'
import { eventually } from '../e2e/video-client.ts'
import { startTestBucket } from '../engines/test-bucket.ts'
import { useOpened } from '../engines/use-opened.ts'

describe('s3 engine', () => {
  const engine = useOpened(startTestBucket)

  const put = (Key: string, Body: string, IfNoneMatch?: '*') =>
    engine.bucket.client.send(new PutObjectCommand({ Bucket: engine.bucket.name, Key, Body, IfNoneMatch }))

  describe('the engine', () => {
    it.each(['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'])('is the one that %s names, where it is set', async (name) => {
      const place = {
        directory: '/nowhere',
        bucketName: 'any',
        credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      }
      const other = await startS3Engine(place, { [name]: 'http://127.0.0.1:9' })
      expect(other.endpoint).toBe('http://127.0.0.1:9')
      await other.close()
    })
  })

  describe('the port of the engine', () => {
    const LIST = '/reelgate-videos?list-type=2'
    const connect = (credentials: EngineCredentials) =>
      new S3Client({
        endpoint: engine.endpoint,
        region: 'us-east-1',
        forcePathStyle: true,
        credentials,
        maxAttempts: 1,
      })
    const anyObject = { Bucket: 'reelgate-videos', Key: `v/a b+c(d)/${randomUUID()}.mp4` }

    it('answers what is signed with the secret of this start, header or presigned url, whatever the key is called', async () => {
      await engine.bucket.client.send(new PutObjectCommand({ ...anyObject, Body: 'a video' }))
      expect((await engine.bytes(anyObject.Key)).toString()).toBe('a video')
      expect(await engine.keys('v/a b+c(d)/')).toEqual([anyObject.Key])
      const ResponseContentType = 'video/mp4; codecs="avc1, mp4a"'
      const url = await getSignedUrl(engine.bucket.client, new GetObjectCommand({ ...anyObject, ResponseContentType }))
      expect(await (await fetch(url)).text()).toBe('a video')
    })

    it.each([
      ['nobody', {}],
      [
        'a signature of the second version',
        { authorization: 'AWS S3RVER:c2lnbmF0dXJl', date: new Date().toUTCString() },
      ],
      ['a header without a signature', { authorization: 'AWS4-HMAC-SHA256 Credential=S3RVER/a/b/s3/aws4_request' }],
      ['a header that is none', { authorization: 'AWS4-HMAC-SHA256 ' }],
    ])('lists nothing, keeps nothing and deletes nothing for %s', async (_, headers) => {
      const key = `v/${randomUUID()}.mp4`
      await put(key, 'first')
      const object = `${engine.endpoint}/reelgate-videos/${key}`
      const outcomes = await Promise.all([
        fetch(`${engine.endpoint}/`, { headers }),
        fetch(engine.endpoint + LIST, { headers }),
        fetch(object, { headers }),
        fetch(object, { method: 'PUT', body: 'second', headers }),
        fetch(object, { method: 'DELETE', headers }),
        fetch(object, {
          method: 'OPTIONS',
          headers: { ...headers, origin: 'http://a', 'access-control-request-method': 'GET' },
        }),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 403))
      expect(await outcomes[1]?.text()).toContain('<Code>AccessDenied</Code>')
      expect((await engine.bytes(key)).toString()).toBe('first')
    })

    it('refuses another secret, another id, and a signature that was made for another request', async () => {
      const list = new ListObjectsV2Command({ Bucket: 'reelgate-videos' })
      for (const wrong of [{ secretAccessKey: 'guessed' }, { accessKeyId: 'other' }, { secretAccessKey: '' }]) {
        const client = connect({ ...engine.credentials, ...wrong })
        await expect(client.send(list)).rejects.toBeDefined()
        client.destroy()
      }
      const url = await getSignedUrl(engine.bucket.client, new GetObjectCommand(anyObject))
      const changed = [
        url.replace('.mp4?', '.mp3?'),
        `${url}&response-content-type=text/html`,
        url.replace('Expires=900', 'Expires=9000'),
        url.replace('SignedHeaders=host', 'SignedHeaders='),
      ]
      for (const each of changed) {
        expect((await fetch(each)).status).toBe(403)
      }
      expect((await fetch(url, { method: 'DELETE' })).status).toBe(403)
    })
  })

  describe('what is left of the differences from S3', () => {
    it('only If-None-Match: * is known; another condition is not looked at', async () => {
      const key = randomUUID()
      await put(key, 'first')
      const conditional = new PutObjectCommand({
        Bucket: engine.bucket.name,
        Key: key,
        Body: 'second',
        IfMatch: '"other"',
      })
      await engine.bucket.client.send(conditional)
      expect((await engine.bytes(key)).toString()).toBe('second')
    })
  })
})

const BUCKET = 'reelgate-videos'
const KEY = 'v/00ff/job.mp4'

const silent = () => undefined
/** The client warns of every body that it cannot measure. */
const SILENT = { debug: silent, info: silent, warn: silent, error: silent }

describe('an object in the local bucket', () => {
  let directory: string
  let engine: S3Engine
  let client: S3Client

  const start = async () => {
    const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
    engine = await startS3Engine({ directory, bucketName: BUCKET, credentials }, {})
    const { endpoint } = engine
    client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials, logger: SILENT })
  }

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'reelgate-objects-'))
    await start()
  })

  afterEach(async () => {
    client.destroy()
    await engine.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const put = (Body: string | Readable, more: object = {}) =>
    client.send(new PutObjectCommand({ Bucket: BUCKET, Key: KEY, Body, ...more }))

  const read = async () => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key: KEY }))
    return await Body?.transformToString()
  }

  const unfinished = () => {
    const staging = join(directory, '.staging')
    return existsSync(staging) ? readdirSync(staging) : []
  }

  /** Sends the beginning of an object and then nothing, until it is cut off. */
  const beginPut = async () => {
    const half = new Readable({ read() {} })
    half.push('the first half')
    const cut = new AbortController()
    const writing = client
      .send(new PutObjectCommand({ Bucket: BUCKET, Key: KEY, Body: half, ContentLength: 1000 }), {
        abortSignal: cut.signal,
      })
      .catch(() => undefined)
    await eventually(
      async () => unfinished(),
      (files) => files.length > 0,
    )
    return async () => {
      cut.abort()
      half.destroy()
      await writing
    }
  }

  it('that was cut off stands in the way of no later write, and nothing of it is left after a restart', async () => {
    await (await beginPut())()
    await engine.close()
    await start()
    expect(unfinished()).toEqual([])
    await put('whole', { IfNoneMatch: '*' })
    expect(await read()).toBe('whole')
  })

  it('that is under way when the engine closes is finished, and its connection then ends', async () => {
    const closing = Promise.withResolvers<void>()
    const body = Readable.from(
      (async function* () {
        yield 'half'
        await closing.promise
        yield ' and half'
      })(),
    )
    const agent = new Agent({ keepAlive: true })
    const url = await getSignedUrl(client, new PutObjectCommand({ Bucket: BUCKET, Key: KEY }))
    const sending = request(url, { method: 'PUT', agent, headers: { 'content-length': 13 } })
    const response = once(sending, 'response')
    body.pipe(sending)
    await eventually(
      async () => unfinished(),
      (files) => files.length > 0,
    )
    const closed = engine.close()
    closing.resolve()
    const [{ statusCode }] = await response
    expect(statusCode).toBe(200)
    await closed
    agent.destroy()
    await start()
    expect(await read()).toBe('half and half')
  })

  it('has its parts thrown away with the process that uploaded them', async () => {
    await client.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key: KEY }))
    const uploads = join(directory, BUCKET, '._S3rver_uploads')
    expect(readdirSync(uploads)).toHaveLength(1)
    await engine.close()
    await start()
    expect(existsSync(uploads)).toBe(false)
  })
})

describe('the local bucket', () => {
  const BUCKET = 'reelgate-videos'
  const DAY_MILLISECONDS = 24 * 60 * 60 * 1000

  let directory: string
  let engine: S3Engine
  let client: S3Client

  const start = async () => {
    const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
    engine = await startS3Engine({ directory, bucketName: BUCKET, credentials }, {})
    client = new S3Client({ endpoint: engine.endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
  }
  const stop = async () => {
    client.destroy()
    await engine.close()
  }

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'reelgate-expired-'))
    await start()
  })

  afterEach(async () => {
    await stop()
    rmSync(directory, { recursive: true, force: true })
  })

  const bucketFiles = () =>
    readdirSync(join(directory, BUCKET), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))

  const put = (Key: string) => client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: 'x' }))

  /** Makes every file of the bucket whose path has `part` in it so old. */
  const age = (part: string, days: number) => {
    const then = new Date(Date.now() - days * DAY_MILLISECONDS)
    for (const file of bucketFiles().filter((path) => path.includes(part))) {
      utimesSync(file, then, then)
    }
  }

  it.each([
    ['v/00ff/old.mp4', 9],
    ['requests/tenant/old.json', 32],
    ['texts/tenant/old/poll.json', 32],
  ])('deletes %s after %i days, as the lifecycle rule does on AWS, and nothing younger', async (key, days) => {
    const neighbour = key.replace('old', 'new')
    await Promise.all([put(key), put(neighbour)])
    age('old', days + 0.1)
    age('new', days - 0.1)
    await sweepExpiredObjects(join(directory, BUCKET), Date.now())
    expect(bucketFiles().filter((path) => path.includes('old'))).toEqual([])
    expect(bucketFiles().some((path) => path.includes('new'))).toBe(true)
    expect(bucketFiles().length).toBeGreaterThan(1)
  })

  it('deletes the parts of an upload that nobody completed for a day', async () => {
    const target = { Bucket: BUCKET, Key: `v/${randomUUID()}.mp4` }
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(target))
    await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: 'part' }))
    const upload = join(directory, BUCKET, '._S3rver_uploads', String(UploadId))
    await sweepExpiredObjects(join(directory, BUCKET), Date.now() + 0.9 * DAY_MILLISECONDS)
    expect(existsSync(upload)).toBe(true)
    await sweepExpiredObjects(join(directory, BUCKET), Date.now() + 1.1 * DAY_MILLISECONDS)
    expect(existsSync(upload)).toBe(false)
  })

  it('is swept when its host starts', async () => {
    await put('v/00ff/old.mp4')
    age('old', 10)
    await stop()
    await start()
    await eventually(
      async () => bucketFiles(),
      (files) => files.length === 0,
    )
    expect(existsSync(join(directory, BUCKET, 'v', '00ff'))).toBe(false)
  })
})
