import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { deleteObject } from '#adapters/store/bucket/video-bucket.ts'
import type { EngineCredentials } from '#local/engine-credentials.ts'
import { startS3Engine } from '#local/s3-engine.ts'
import { startTestBucket, type TestBucket } from '../engines/start-test-bucket.ts'

let engine: TestBucket
beforeAll(async () => {
  engine = await startTestBucket()
})
afterAll(() => engine.close())

const put = (Key: string, Body: string, IfNoneMatch?: '*') =>
  engine.bucket.client.send(new PutObjectCommand({ Bucket: engine.bucket.name, Key, Body, IfNoneMatch }))

async function beginUpload(Key: string, Body: string) {
  const target = { Bucket: engine.bucket.name, Key }
  const { UploadId } = await engine.bucket.client.send(new CreateMultipartUploadCommand(target))
  const part = await engine.bucket.client.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body }))
  const complete = { ...target, UploadId, MultipartUpload: { Parts: [{ PartNumber: 1, ETag: part.ETag }] } }
  return {
    complete: () => engine.bucket.client.send(new CompleteMultipartUploadCommand({ ...complete, IfNoneMatch: '*' })),
    abort: () => engine.bucket.client.send(new AbortMultipartUploadCommand({ ...target, UploadId })),
  }
}

const statuses = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes
    .map((outcome) => (outcome.status === 'fulfilled' ? 200 : Number(outcome.reason.$metadata.httpStatusCode)))
    .toSorted()

describe('a conditional write', () => {
  it('of a new object is done, of an existing one is 412 and changes nothing', async () => {
    const key = randomUUID()
    await put(key, 'first', '*')
    await expect(put(key, 'second', '*')).rejects.toMatchObject({ name: 'PreconditionFailed' })
    expect((await engine.bytes(key)).toString()).toBe('first')
  })

  it('ten times at once makes one object', async () => {
    const key = `v/${randomUUID()}.mp4`
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => put(key, String(index), '*')))
    expect(statuses(outcomes)).toEqual([200, ...Array<number>(9).fill(412)])
  })

  it('at the completion of two parallel uploads makes one object', async () => {
    const key = `v/${randomUUID()}.mp4`
    const uploads = [await beginUpload(key, 'one'), await beginUpload(key, 'two')]
    const outcomes = await Promise.allSettled(uploads.map((upload) => upload.complete()))
    expect(statuses(outcomes)).toEqual([200, 412])
    expect(['one', 'two']).toContain((await engine.bytes(key)).toString())
  })

  it('without the condition replaces what is there', async () => {
    const key = randomUUID()
    await put(key, 'first')
    await put(key, 'second')
    expect((await engine.bytes(key)).toString()).toBe('second')
  })

  it('is possible again once the object was deleted', async () => {
    const key = randomUUID()
    await put(key, 'first', '*')
    await deleteObject(engine.bucket, key)
    await put(key, 'second', '*')
    expect((await engine.bytes(key)).toString()).toBe('second')
  })
})

describe('an upload that is given up', () => {
  it('cannot be completed any more and leaves no object', async () => {
    const key = randomUUID()
    const upload = await beginUpload(key, 'one')
    await upload.abort()
    await expect(upload.complete()).rejects.toBeDefined()
    expect(await engine.keys(key)).toEqual([])
  })
})

describe('the engine', () => {
  it.each(['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'])('is the one that %s names, where it is set', async (name) => {
    const place = { directory: '/nowhere', bucketName: 'any', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }
    const other = await startS3Engine(place, { [name]: 'http://127.0.0.1:9' })
    expect(other.endpoint).toBe('http://127.0.0.1:9')
    await other.close()
  })
})

describe('the port of the engine', () => {
  const LIST = '/reelgate-videos?list-type=2'
  const connect = (credentials: EngineCredentials) =>
    new S3Client({ endpoint: engine.endpoint, region: 'us-east-1', forcePathStyle: true, credentials, maxAttempts: 1 })
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
    ['a signature of the second version', { authorization: 'AWS S3RVER:c2lnbmF0dXJl', date: new Date().toUTCString() }],
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
