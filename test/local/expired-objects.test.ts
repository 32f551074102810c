import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateMultipartUploadCommand, PutObjectCommand, S3Client, UploadPartCommand } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type S3Engine, startS3Engine, sweepExpiredObjects } from '#local/s3-engine.ts'
import { eventually } from '../e2e/video-api.ts'

const BUCKET = 'reelgate-videos'
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000

describe('the local bucket', () => {
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
