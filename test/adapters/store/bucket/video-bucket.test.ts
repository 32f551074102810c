import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Bucket,
  deleteObject,
  getText,
  openBucket,
  putText,
  videoKey,
} from '#adapters/store/bucket/video-bucket.ts'
import { startTestBucket } from '../../../engines/start-test-bucket.ts'
import { useOpened } from '../../../engines/use-opened.ts'

const before = { ...process.env }
const engine = useOpened(startTestBucket)
let bucket: Bucket
beforeAll(async () => {
  bucket = engine.bucket
})
afterAll(async () => {
  process.env = before
})

describe('video-bucket', () => {
  it('reads an object as it was written last', async () => {
    await putText(bucket, 'texts/a.json', '{"a":"漢"}')
    await putText(bucket, 'texts/a.json', '{"a":"字"}')
    expect(await getText(bucket, 'texts/a.json')).toBe('{"a":"字"}')
  })

  it('throws for an object that does not exist', async () => {
    await expect(getText(bucket, 'texts/none.json')).rejects.toMatchObject({ name: 'NoSuchKey' })
  })

  it('deletes an object, and one that does not exist without an error', async () => {
    await putText(bucket, 'texts/b.json', '{}')
    await deleteObject(bucket, 'texts/b.json')
    await deleteObject(bucket, 'texts/b.json')
    expect(await engine.keys('texts/b.json')).toEqual([])
  })

  it('opens the bucket that BUCKET_NAME names', async () => {
    process.env = { ...before, AWS_REGION: 'us-east-1', BUCKET_NAME: 'videos' }
    expect((await openBucket()).name).toBe('videos')
    delete process.env.BUCKET_NAME
    await expect(openBucket()).rejects.toThrow('BUCKET_NAME is not set')
  })

  it('keeps a video under a key that only its record knows', () => {
    expect(videoKey('00ff', 'job')).toBe('v/00ff/job.mp4')
  })
})
