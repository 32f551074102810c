import type { Readable } from 'node:stream'
import { Upload } from '@aws-sdk/lib-storage'
import type { Bucket } from './video-bucket.ts'

/** Part size and parts in flight bound the memory of one upload, whatever its size. */
const PART_BYTES = 8 * 1024 * 1024
const PARTS_IN_FLIGHT = 4

/**
 * Streams a video into the bucket. A video that another try has stored already stays as it is, which is success.
 * When `body` fails, the upload is aborted and leaves nothing behind.
 * @throws what the stream or the bucket throws.
 */
export async function uploadVideo(bucket: Bucket, key: string, body: Readable): Promise<void> {
  const upload = new Upload({
    client: bucket.client,
    params: {
      Bucket: bucket.name,
      Key: key,
      Body: body,
      ContentType: 'video/mp4',
      CacheControl: 'private, max-age=300',
      IfNoneMatch: '*',
    },
    partSize: PART_BYTES,
    queueSize: PARTS_IN_FLIGHT,
  })
  try {
    await upload.done()
  } catch (error) {
    if (!isAlreadyStored(error)) {
      throw error
    }
  }
}

/** 412: the object exists; the key belongs to this job alone, so it is this video. */
function isAlreadyStored(error: unknown): boolean {
  return error instanceof Error && error.name === 'PreconditionFailed'
}
