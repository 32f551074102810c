import type { StoredText, VideoJob } from '#core/jobs/video-job.ts'
import { logger } from '../../telemetry/logger.ts'
import { getText, type OpenBucket, putText } from './video-bucket.ts'

/** Texts above these sizes leave the record, which holds 400 KB in all, and go to the bucket. */
const INLINE_BYTES_MAX = { submit: 50_000, poll: 300_000 } as const

/** A request above this size leaves the reservation, which is rewritten when it is resolved. */
const REQUEST_INLINE_BYTES_MAX = 16_000

/** Keeps an upstream's answer whole: inline where it fits, else in the bucket. `bucket` is opened only then. */
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
 * Where a request is to lie: inline where it fits (nearly always), else in the bucket (images inside the request), into which
 * the reservation's caller puts it.
 */
export function placeRequest({ tenantId, jobId }: Pick<VideoJob, 'tenantId' | 'jobId'>, text: string): StoredText {
  return Buffer.byteLength(text) <= REQUEST_INLINE_BYTES_MAX
    ? { inline: text }
    : { bucketKey: `requests/${tenantId}/${jobId}.json` }
}

/** Reads a stored text back, byte for byte; undefined stays undefined. */
export async function loadText(openBucket: OpenBucket, text: StoredText | undefined): Promise<string | undefined> {
  if (text === undefined) {
    return undefined
  }
  return 'inline' in text ? text.inline : await getText(await openBucket(), text.bucketKey)
}

/** What S3 says of an object that is not there; the second to callers that may not list the bucket. */
const NOT_THERE = new Set(['NoSuchKey', 'AccessDenied'])

/**
 * The same for somebody who reads a job: its text goes when the job is deleted, which may be between the two reads. The job is then
 * shown without it, and a list is not lost for one of its jobs.
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
