import { Readable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { deleteObject, videoKey } from '#store/bucket/bucket.ts'
import { uploadVideo } from '#store/bucket/upload-video.ts'
import { startTestBucket } from '../../engines/test-bucket.ts'
import { useOpened } from '../../engines/use-opened.ts'

const engine = useOpened(startTestBucket)

let keys = 0
function newKey(): string {
  keys += 1
  return videoKey('0'.repeat(32), `job-${keys}`)
}

/** Two parts of an upload and a bit. */
const LARGE_BYTES = 17 * 1024 * 1024
const filled = (bytes: number, value: number) => Buffer.alloc(bytes, value)

describe('uploadVideo: an upload', () => {
  it.each([1, 1_000, LARGE_BYTES])('of %s bytes stores them as they came', async (bytes) => {
    const key = newKey()
    const content = filled(bytes, 7)
    await uploadVideo(engine.bucket, key, Readable.from([content]))
    expect((await engine.bytes(key)).equals(content)).toBe(true)
  })

  it.each([1_000, LARGE_BYTES])(
    'of %s bytes twice at once makes one object, whole, and neither fails',
    async (bytes) => {
      const key = newKey()
      const upload = (value: number) => uploadVideo(engine.bucket, key, Readable.from([filled(bytes, value)]))
      await Promise.all([upload(1), upload(2)])
      const stored = await engine.bytes(key)
      expect([filled(bytes, 1), filled(bytes, 2)].some((content) => content.equals(stored))).toBe(true)
    },
  )

  it('over a stored video leaves that as it is', async () => {
    const key = newKey()
    await uploadVideo(engine.bucket, key, Readable.from([filled(1_000, 1)]))
    await uploadVideo(engine.bucket, key, Readable.from([filled(1_000, 2)]))
    expect((await engine.bytes(key)).equals(filled(1_000, 1))).toBe(true)
  })

  it.each([1_000, LARGE_BYTES])(
    'whose source breaks after %s bytes throws its error and leaves nothing',
    async (bytes) => {
      const key = newKey()
      const source = Readable.from(
        (async function* () {
          yield filled(bytes, 1)
          throw new RangeError('the source broke')
        })(),
      )
      await expect(uploadVideo(engine.bucket, key, source)).rejects.toThrow('the source broke')
      expect(await engine.keys(key)).toEqual([])
    },
  )

  it('into a bucket that is not there fails', async () => {
    const nowhere = { ...engine.bucket, name: 'no-such-bucket' }
    await expect(uploadVideo(nowhere, newKey(), Readable.from([filled(1_000, 1)]))).rejects.toMatchObject({
      name: 'NoSuchBucket',
    })
  })
})

describe('deleteObject: a deletion of a video', () => {
  it('removes the object, and of a missing one is no error', async () => {
    const key = newKey()
    await uploadVideo(engine.bucket, key, Readable.from([filled(10, 1)]))
    await deleteObject(engine.bucket, key)
    await deleteObject(engine.bucket, key)
    expect(await engine.keys(key)).toEqual([])
  })
})
