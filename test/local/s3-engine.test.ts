import { randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { deleteObject } from '#adapters/stores/video-bucket.ts'
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
    const other = await startS3Engine({ directory: '/nowhere', bucketName: 'any' }, { [name]: 'http://127.0.0.1:9' })
    expect(other.endpoint).toBe('http://127.0.0.1:9')
    await other.close()
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
