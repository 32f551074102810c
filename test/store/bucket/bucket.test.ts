import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type Bucket,
  deleteObject,
  getText,
  loadText,
  loadTextIfThere,
  openBucket,
  placeRequest,
  putText,
  storeUpstreamText,
  videoKey,
} from '#store/bucket/bucket.ts'
import { startTestBucket } from '../../engines/test-bucket.ts'
import { useOpened } from '../../engines/use-opened.ts'

describe('openBucket', () => {
  const before = { ...process.env }
  const engine = useOpened(startTestBucket)
  let bucket: Bucket
  beforeAll(async () => {
    bucket = engine.bucket
  })
  afterAll(async () => {
    process.env = before
  })

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

const engine = useOpened(startTestBucket)
let opened = 0
const open = (): Bucket => {
  opened += 1
  return engine.bucket
}

const job = { tenantId: 'tenant', jobId: 'job' }
/** JSON that no parser gives back as it was, in more than one byte per character. */
const oddText = (bytes: number) => `{"n":9007199254740993,"f":5.0,"t":"${'漢'.repeat(Math.ceil(bytes / 3))}"}`

describe('storeUpstreamText: an upstream text', () => {
  it.each([
    ['submit', 50_000],
    ['poll', 300_000],
  ] as const)('of a %s stays in the record up to its bound, and the bucket is not even opened', async (kind, bytes) => {
    const before = opened
    const text = 'x'.repeat(bytes)
    expect(await storeUpstreamText(open, { job, kind, text })).toEqual({ inline: text })
    expect(opened).toBe(before)
  })

  it.each([
    ['submit', 50_001],
    ['poll', 300_001],
  ] as const)('of a %s above its bound goes to the bucket and comes back byte for byte', async (kind, bytes) => {
    const text = oddText(bytes)
    const stored = await storeUpstreamText(open, { job, kind, text })
    expect(stored).toEqual({ bucketKey: `texts/tenant/job/${kind}.json` })
    expect(await loadText(open, stored)).toBe(text)
  })

  it('counts bytes, not characters', async () => {
    const text = '漢'.repeat(20_000)
    expect(await storeUpstreamText(open, { job, kind: 'submit', text })).toHaveProperty('bucketKey')
  })

  it('in the bucket is replaced by a newer one', async () => {
    await storeUpstreamText(open, { job, kind: 'poll', text: oddText(300_001) })
    const newer = oddText(300_300)
    expect(await loadText(open, await storeUpstreamText(open, { job, kind: 'poll', text: newer }))).toBe(newer)
  })

  it('that was deleted after its job was read is left out for readers alone', async () => {
    const stored = await storeUpstreamText(open, { job, kind: 'poll', text: oddText(300_001) })
    await deleteObject(engine.bucket, 'texts/tenant/job/poll.json')
    expect(await loadTextIfThere(open, stored)).toBeUndefined()
    await expect(loadText(open, stored)).rejects.toMatchObject({ name: 'NoSuchKey' })
  })

  it('loadText returns undefined for a missing object', async () => {
    expect(await loadText(open, undefined)).toBeUndefined()
  })
})

describe('placeRequest: a request', () => {
  it('with images inside goes to the bucket', () => {
    expect(placeRequest(job, oddText(4_000_000))).toEqual({ bucketKey: 'requests/tenant/job.json' })
    expect(placeRequest(job, 'x'.repeat(16_001))).toHaveProperty('bucketKey')
  })

  it('of the usual size stays in the reservation', () => {
    const text = 'x'.repeat(16_000)
    expect(placeRequest(job, text)).toEqual({ inline: text })
  })
})
