import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startS3Engine } from '#local/s3-engine.ts'
import { uploadVideo } from '#store/bucket/upload-video.ts'

// What the gateway and its tests need of an S3 engine, without a word about s3rver: for another engine, replace `startEngine`.
const BUCKET = 'reelgate-videos'
const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
/** An engine has begun or ended a write. It says neither. */
const SETTLED_MILLISECONDS = 300

const startEngine = (directory: string) =>
  startS3Engine({ directory, bucketName: BUCKET, credentials: CREDENTIALS }, {})

let directory: string
let engine: Awaited<ReturnType<typeof startEngine>>
let client: S3Client

async function start() {
  engine = await startEngine(directory)
  client = new S3Client({
    endpoint: engine.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: CREDENTIALS,
  })
}

async function stop() {
  client.destroy()
  await engine.close()
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'reelgate-contract-'))
  await start()
})

afterAll(async () => {
  await stop()
  rmSync(directory, { recursive: true, force: true })
})

const newKey = () => `v/00ff/${randomUUID()}.mp4`

const put = (Key: string, Body: string | Buffer, more: Partial<PutObjectCommandInput> = {}) =>
  client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body, ...more }))

const get = (Key: string, Range?: string) => client.send(new GetObjectCommand({ Bucket: BUCKET, Key, Range }))

const read = async (Key: string, Range?: string) => (await get(Key, Range)).Body?.transformToString()

const list = async (Prefix: string) => {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix }))
  return Contents.map(({ Key }) => Key)
}

async function beginUpload(Key: string, Body: string) {
  const target = { Bucket: BUCKET, Key }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target))
  const { ETag } = await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body }))
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] }
  return {
    complete: () =>
      client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload, IfNoneMatch: '*' })),
    abort: () => client.send(new AbortMultipartUploadCommand({ ...target, UploadId })),
  }
}

const statuses = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes
    .map((outcome) => (outcome.status === 'fulfilled' ? 200 : Number(outcome.reason.$metadata.httpStatusCode)))
    .toSorted()

describe('S3 engine: objects', () => {
  it('keeps the bytes, the content type and the metadata of a put with the default checksums of the SDK', async () => {
    const key = newKey()
    const body = randomBytes(300_000)
    await put(key, body, { ContentType: 'application/json', Metadata: { job: 'one' } })
    const { Body, ...head } = await get(key)
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(body)).toBe(true)
    expect(head).toMatchObject({ ContentType: 'application/json', ContentLength: 300_000, Metadata: { job: 'one' } })
  })

  it('keeps a video of unknown length with its content type', async () => {
    const key = newKey()
    await uploadVideo({ client, name: BUCKET }, key, Readable.from([Buffer.from('one '), Buffer.from('two')]))
    expect(await read(key)).toBe('one two')
    expect(await client.send(new HeadObjectCommand({ Bucket: BUCKET, Key: key }))).toMatchObject({
      ContentType: 'video/mp4',
      ContentLength: 7,
    })
  })

  it('keeps an empty object', async () => {
    const key = newKey()
    await put(key, '', { ContentLength: 0 })
    expect(await read(key)).toBe('')
  })

  it('replaces an object', async () => {
    const key = newKey()
    await put(key, 'the first')
    await put(key, 'second')
    expect(await read(key)).toBe('second')
  })

  it('deletes an object, one that does not exist too', async () => {
    const key = newKey()
    await put(key, 'one')
    for (let time = 0; time < 2; time += 1) {
      await client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: key }))
    }
    await expect(read(key)).rejects.toMatchObject({ name: 'NoSuchKey' })
  })

  it('takes any key, and lists by prefix', async () => {
    const key = 'list/a b+c(d)/1.mp4'
    await put(key, 'one')
    await put('list/other.mp4', 'two')
    expect(await read(key)).toBe('one')
    expect(await list('list/')).toEqual([key, 'list/other.mp4'])
    expect(await list('none/')).toEqual([])
  })

  it('survives a restart', async () => {
    const key = newKey()
    await put(key, 'one', { ContentType: 'video/mp4', IfNoneMatch: '*' })
    await stop()
    await start()
    expect(await read(key)).toBe('one')
    expect(await get(key)).toMatchObject({ ContentType: 'video/mp4' })
  })
})

describe('S3 engine: ranges', () => {
  const key = 'ranges.mp4'
  beforeAll(() => put(key, '0123456789'))

  it.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=8-', '89', 'bytes 8-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
  ])('%s is 206 with %s', async (range, body, contentRange) => {
    const { $metadata, ContentRange, Body } = await get(key, range)
    expect([$metadata.httpStatusCode, ContentRange]).toEqual([206, contentRange])
    expect(await Body?.transformToString()).toBe(body)
  })

  it('beyond the end is 416', async () => {
    await expect(get(key, 'bytes=10-')).rejects.toMatchObject({ name: 'InvalidRange' })
  })
})

describe('S3 engine: If-None-Match: *', () => {
  it('writes a new object, and answers 412 for an existing one, which stays', async () => {
    const key = newKey()
    await put(key, 'first', { IfNoneMatch: '*' })
    await expect(put(key, 'second', { IfNoneMatch: '*' })).rejects.toMatchObject({ name: 'PreconditionFailed' })
    expect(await read(key)).toBe('first')
  })

  it('makes one object of ten writes at once', async () => {
    const key = newKey()
    const writes = Array.from({ length: 10 }, (_, index) => put(key, String(index), { IfNoneMatch: '*' }))
    expect(statuses(await Promise.allSettled(writes))).toEqual([200, ...Array<number>(9).fill(412)])
  })

  it('makes one object of two multipart uploads that complete at once', async () => {
    const key = newKey()
    const uploads = [await beginUpload(key, 'one'), await beginUpload(key, 'two')]
    expect(statuses(await Promise.allSettled(uploads.map((upload) => upload.complete())))).toEqual([200, 412])
    expect(['one', 'two']).toContain(await read(key))
  })

  it('writes again after a delete', async () => {
    const key = newKey()
    await put(key, 'first', { IfNoneMatch: '*' })
    await client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: key }))
    await put(key, 'second', { IfNoneMatch: '*' })
    expect(await read(key)).toBe('second')
  })
})

describe('S3 engine: multipart uploads', () => {
  it('joins the parts of a video in order', async () => {
    const key = newKey()
    const body = randomBytes(20 * 1024 * 1024)
    await uploadVideo({ client, name: BUCKET }, key, Readable.from([body]))
    expect(Buffer.from((await (await get(key)).Body?.transformToByteArray()) ?? []).equals(body)).toBe(true)
  })

  it('forgets an upload that is aborted, and leaves the object of that key alone', async () => {
    const key = newKey()
    await put(key, 'stored')
    const upload = await beginUpload(key, 'one')
    await upload.abort()
    await expect(upload.complete()).rejects.toBeDefined()
    expect(await read(key)).toBe('stored')
  })
})

describe('S3 engine: a put that is cut off', () => {
  /** Sends the beginning of an object, and cuts the connection when the engine has it. @returns what a reader saw before the cut. */
  async function cutOff(key: string) {
    const url = await getSignedUrl(client, new PutObjectCommand({ Bucket: BUCKET, Key: key }))
    const put = request(url, { method: 'PUT', headers: { 'content-length': 1_000_000 } })
    put.on('error', () => undefined)
    put.write(randomBytes(100_000))
    await delay(SETTLED_MILLISECONDS)
    const seen = await read(key).catch((error: Error) => error.name)
    put.destroy()
    await delay(SETTLED_MILLISECONDS)
    return seen
  }

  it('leaves no object, before and after the cut, and a conditional write goes through', async () => {
    const key = newKey()
    expect(await cutOff(key)).toBe('NoSuchKey')
    await expect(read(key)).rejects.toMatchObject({ name: 'NoSuchKey' })
    await put(key, 'whole', { IfNoneMatch: '*' })
    expect(await read(key)).toBe('whole')
  })

  it('leaves the object that was there, before and after the cut', async () => {
    const key = newKey()
    await put(key, 'before')
    expect(await cutOff(key)).toBe('before')
    expect(await read(key)).toBe('before')
  })
})

describe('S3 engine: signatures', () => {
  it('serves a presigned url, and refuses the url of another object', async () => {
    const key = newKey()
    await put(key, 'one')
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket: BUCKET, Key: key }))
    expect(await (await fetch(url)).text()).toBe('one')
    expect((await fetch(url.replace('.mp4?', '.mp3?'))).status).toBe(403)
  })

  it('refuses requests without a signature', async () => {
    const key = newKey()
    await put(key, 'one')
    const object = `${engine.endpoint}/${BUCKET}/${key}`
    const outcomes = await Promise.all([
      fetch(object),
      fetch(object, { method: 'PUT', body: 'two' }),
      fetch(object, { method: 'DELETE' }),
      fetch(`${engine.endpoint}/${BUCKET}?list-type=2`),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect(await read(key)).toBe('one')
  })
})
