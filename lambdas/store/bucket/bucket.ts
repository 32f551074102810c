import type { S3Client } from '@aws-sdk/client-s3'
import type { StoredText, VideoJob } from '#core/jobs/video-job.ts'
import { environmentVariable } from '../../platform/configuration.ts'
import { logger } from '../../platform/telemetry/logger.ts'

/** The one bucket: videos below `v/`, which the CDN serves; below `requests/` and `texts/` what is too large for the table. */
export type Bucket = { readonly client: S3Client; readonly name: string }

/** Opens the bucket when it is first needed. */
export type OpenBucket = () => Bucket | Promise<Bucket>

/** Loads the client when it is first needed: most invocations use no object, and every cold start would pay for it. */
const loadClient = () => import('../../platform/aws/bucket-client.ts')

/** Opens the bucket that the environment names (`BUCKET_NAME`). */
export async function openBucket(): Promise<Bucket> {
  const { S3Client } = await loadClient()
  return { client: new S3Client({}), name: environmentVariable('BUCKET_NAME') }
}

/** Object key of a video: unguessable, and fixed at creation, so that every try stores to the same place. */
export function videoKey(randomHex: string, jobId: string): string {
  return `v/${randomHex}/${jobId}.mp4`
}

/** Deletes an object; a missing one is no error. */
export async function deleteObject(bucket: Bucket, key: string): Promise<void> {
  const { DeleteObjectCommand } = await loadClient()
  await bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.name, Key: key }))
}

/** Writes a string as an object, replacing an older one. */
export async function putText(bucket: Bucket, key: string, text: string): Promise<void> {
  const { PutObjectCommand } = await loadClient()
  await bucket.client.send(
    new PutObjectCommand({ Bucket: bucket.name, Key: key, Body: text, ContentType: 'application/json' }),
  )
}

/** Reads an object as a string. @throws when it does not exist. */
export async function getText(bucket: Bucket, key: string): Promise<string> {
  const { GetObjectCommand } = await loadClient()
  const { Body } = await bucket.client.send(new GetObjectCommand({ Bucket: bucket.name, Key: key }))
  return (await Body?.transformToString('utf-8')) ?? ''
}

/** Replies above these sizes go to the bucket, because an item holds 400 KB in all. */
const INLINE_BYTES_MAX = { submit: 50_000, poll: 300_000 } as const

/** A request above this size goes to the bucket, because the reservation is written again when it is resolved. */
const REQUEST_INLINE_BYTES_MAX = 16_000

/** Stores an upstream's whole reply: inline where it fits, otherwise in the bucket, which is opened only then. */
export async function storeUpstreamText(
  openBucket: OpenBucket,
  { job, kind, text }: { job: Pick<VideoJob, 'tenantId' | 'jobId'>; kind: 'submit' | 'poll'; text: string },
): Promise<StoredText> {
  if (Buffer.byteLength(text) <= INLINE_BYTES_MAX[kind]) {
    return { inline: text }
  }
  const bucketKey = `texts/${job.tenantId}/${job.jobId}/${kind}.json`
  await putText(await openBucket(), bucketKey, text)
  return { bucketKey }
}

/**
 * Where a request is stored: inline where it fits (nearly always), otherwise in the bucket (requests with images), where the
 * caller puts it.
 */
export function placeRequest({ tenantId, jobId }: Pick<VideoJob, 'tenantId' | 'jobId'>, text: string): StoredText {
  return Buffer.byteLength(text) <= REQUEST_INLINE_BYTES_MAX
    ? { inline: text }
    : { bucketKey: `requests/${tenantId}/${jobId}.json` }
}

/** Reads a stored string, byte for byte; undefined stays undefined. */
export async function loadText(openBucket: OpenBucket, text: StoredText | undefined): Promise<string | undefined> {
  if (text === undefined) {
    return undefined
  }
  return 'inline' in text ? text.inline : await getText(await openBucket(), text.bucketKey)
}

/** Errors of S3 for a missing object; the second for callers that may not list the bucket. */
const NOT_THERE = new Set(['NoSuchKey', 'AccessDenied'])

/**
 * Does the same for a reader of a job, whose stored strings may be deleted with the job between the two reads. The job is then shown
 * without them, so that a list does not fail for one of its jobs.
 */
export async function loadTextIfThere(
  openBucket: OpenBucket,
  text: StoredText | undefined,
): Promise<string | undefined> {
  try {
    return await loadText(openBucket, text)
  } catch (error) {
    if (error instanceof Error && NOT_THERE.has(error.name)) {
      logger.warn('text of an upstream is not there; its job was deleted meanwhile, or the bucket may not be read', {
        error,
      })
      return undefined
    }
    throw error
  }
}
