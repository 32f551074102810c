import type { Readable } from 'node:stream'
import { AbortMultipartUploadCommand } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import type { Bucket } from './bucket.ts'

/** Size of a part in bytes, and parts in flight. They bound the memory of one upload, whatever its size. */
export const UPLOAD_PARTS = { partSize: 8 * 1024 * 1024, queueSize: 4 } as const

/**
 * Streams a video into the bucket. A video that another try stored before stays as it is, which is success.
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
 * Discards the parts of an upload whose completion was refused; the library only does so when a part fails. Parts that cannot be
 * discarded are left to the lifecycle of the bucket; an upload that was completed, with its response lost, has none.
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

/** 412: the object exists. Its key belongs to this job alone, so it is this video. */
function isAlreadyStored(error: unknown): boolean {
  return error instanceof Error && error.name === 'PreconditionFailed'
}
