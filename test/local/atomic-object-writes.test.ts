import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { CreateMultipartUploadCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type S3Engine, startS3Engine } from '#local/s3-engine.ts'
import { eventually } from '../e2e/video-api.ts'

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

  it('has its parts thrown away with the process that uploaded them', async () => {
    await client.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key: KEY }))
    const uploads = join(directory, BUCKET, '._S3rver_uploads')
    expect(readdirSync(uploads)).toHaveLength(1)
    await engine.close()
    await start()
    expect(existsSync(uploads)).toBe(false)
  })
})
