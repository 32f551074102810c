import type { Readable } from 'node:stream'
import { AbortMultipartUploadCommand } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import type { Bucket } from './video-bucket.ts'

/** Size of a part in bytes, and parts in flight: they bound the memory of one upload, whatever its size. */
export const UPLOAD_PARTS = { partSize: 8 * 1024 * 1024, queueSize: 4 } as const

/**
 * Streams a video into the bucket. A video that another try has stored already stays as it is, which is success.
 * When `body` or the bucket fails, the upload is aborted and leaves nothing behind.
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
    ...UPLOAD_PARTS,
  })
  try {
    await upload.done()
  } catch (error) {
    await discardParts(bucket, key, upload)
    if (!isAlreadyStored(error)) {
      throw error
    }
  }
}

/**
 * The library discards parts when one of them fails, not when their completion is refused. What cannot be discarded now
 * (a completion whose answer was lost has no parts any more) is left to the lifecycle of the bucket.
 */
async function discardParts({ client, name }: Bucket, key: string, { uploadId }: Upload): Promise<void> {
  if (uploadId === undefined) {
    return
  }
  try {
    await client.send(new AbortMultipartUploadCommand({ Bucket: name, Key: key, UploadId: uploadId }))
  } catch {
    // The failure of the upload itself is what counts.
  }
}

/** 412: the object exists; the key belongs to this job alone, so it is this video. */
function isAlreadyStored(error: unknown): boolean {
  return error instanceof Error && error.name === 'PreconditionFailed'
}
