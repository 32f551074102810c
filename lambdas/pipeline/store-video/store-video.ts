import { Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  FAILURE_TEXT,
  isTerminal,
  isUnwanted,
  type NextStep,
  type StepInput,
  type VideoJob,
} from '#core/jobs/video-job.ts'
import { createMp4Scanner, type Mp4Scanner } from '#core/mp4.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count, measure } from '#platform/telemetry/measures.ts'
import { deleteObject } from '#store/bucket/bucket.ts'
import { uploadVideo } from '#store/bucket/upload-video.ts'
import { recordFailure, recordStored } from '#store/jobs/job-progress.ts'
import { DownloadError, openDownload } from '#upstream/guard/download.ts'
import {
  nowSeconds,
  ofChannel,
  readStoredResult,
  reportRefusedResult,
  requireVideoJob,
  type StepContext,
} from '../step-context.ts'

/** A transfer ends before its function does, so that the failure is recorded and the upload aborted. */
export const TRANSFER_MILLISECONDS_MAX = 800_000

/** The file ended inside a box, although the download reported no error. */
class VideoCutError extends Error {
  override readonly name = 'VideoCutError'
}

/** The file does not begin as an MP4 file, has no movie, or is empty. */
export class NotAVideoError extends Error {
  override readonly name = 'NotAVideoError'
}

/** A video in the bucket. */
export type TransferredVideo = {
  /** The length in decimal seconds, if the header has one. */
  readonly durationSeconds: string | undefined
  readonly bytes: number
}

/**
 * Streams one result into the bucket with bounded memory and checks its boxes on the way.
 * @throws NotAVideoError, VideoCutError, DownloadError or what the bucket throws; the bucket then keeps nothing.
 */
export async function transferVideo(
  url: string,
  { job, context }: { job: VideoJob; context: StepContext },
): Promise<TransferredVideo> {
  const { config } = context.catalogue
  const bucket = await context.openBucket()
  const { body } = await openDownload({
    url,
    trustedOrigins: config.trusted_origins,
    maxBytes: config.max_video_bytes,
    signal: AbortSignal.timeout(TRANSFER_MILLISECONDS_MAX),
    ...context.network,
  })
  const scanner = createMp4Scanner()
  let bytes = 0
  const checked = checkedPassage(scanner, (chunkBytes) => {
    bytes += chunkBytes
  })
  const [download, upload] = await Promise.allSettled([
    pipeline(body, checked),
    uploadVideo(bucket, job.videoKey, checked),
  ])
  if (upload.status === 'rejected' && isAborted(download)) {
    throw upload.reason
  }
  if (download.status === 'rejected') {
    throw download.reason
  }
  if (upload.status === 'rejected') {
    throw upload.reason
  }
  return { durationSeconds: scanner.finish().durationSeconds, bytes }
}

/** Whether the download ended only because its upload failed. */
function isAborted(download: PromiseSettledResult<void>): boolean {
  return download.status === 'rejected' && download.reason?.name === 'AbortError'
}

/** Another try may complete a file that broke off, but does not add a movie to a complete file. */
function judgeEnd(scanner: Mp4Scanner): Error | null {
  const { isMp4, hasMovie, isCut } = scanner.finish()
  if (!isMp4 || (!hasMovie && !isCut)) {
    return new NotAVideoError('the result holds no movie')
  }
  return isCut ? new VideoCutError('the result breaks off in the middle of a box') : null
}

/** Passes bytes on until they prove not to be a video; then fails, which stops the download and aborts the upload. */
function checkedPassage(scanner: Mp4Scanner, onPassed: (bytes: number) => void): Transform {
  const refuse = () => new NotAVideoError('the result does not begin as an MP4 file')
  return new Transform({
    transform(chunk: Buffer, _, callback: TransformCallback) {
      scanner.push(chunk)
      if (scanner.verdict() === 'not_mp4') {
        callback(refuse())
      } else {
        onPassed(chunk.length)
        callback(null, chunk)
      }
    },
    flush(callback: TransformCallback) {
      callback(judgeEnd(scanner))
    },
  })
}

/** The time that a finished video has to be fetched and stored. */
export const GIVE_UP_SECONDS = 60 * 60

/** A store that may succeed on the next try: the state machine retries it. */
class StoreFailedError extends Error {
  override readonly name = 'StoreFailedError'
}

/**
 * Streams a finished video from the upstream into the bucket. Repeating this is harmless: the object key was fixed when the
 * job was created.
 * @throws StoreFailedError when another try may succeed.
 */
export async function storeVideo(input: StepInput, context: StepContext): Promise<NextStep> {
  const job = await requireVideoJob(context.table, input)
  if (isTerminal(job)) {
    if (job.status === 'failed') {
      // An earlier try may have stored the video after the job had failed, and died before it deleted the object.
      await deleteObject(await context.openBucket(), job.videoKey)
    }
    return { step: 'notify' }
  }
  if (isUnwanted(job)) {
    await deleteObject(await context.openBucket(), job.videoKey)
    return { step: 'settle' }
  }
  if (job.storedDurationSeconds !== undefined) {
    return { step: 'settle' }
  }
  try {
    const { durationSeconds } = await measuredTransfer(job, context)
    if (!(await recordStored(context.table, job, { durationSeconds, nowSeconds: nowSeconds(context) }))) {
      await removeUnwantedVideo(input, context)
    }
  } catch (error) {
    return await judgeFailure(error, job, context)
  }
  return { step: 'settle' }
}

async function measuredTransfer(job: VideoJob, context: StepContext): Promise<TransferredVideo> {
  const url = await resultUrl(job, context)
  const startedAt = performance.now()
  const video = await transferVideo(url, { job, context })
  const seconds = (performance.now() - startedAt) / 1000
  const values = { store_seconds: seconds, stored_bytes: video.bytes, store_bytes_per_second: video.bytes / seconds }
  measure(values, ofChannel(job))
  return video
}

/** Deletes the video of a job that was ended during the transfer, when there was no object to delete yet. */
async function removeUnwantedVideo(input: StepInput, context: StepContext): Promise<void> {
  const job = await requireVideoJob(context.table, input)
  if (job.status === 'failed' || isUnwanted(job)) {
    await deleteObject(await context.openBucket(), job.videoKey)
  }
}

/** Reads the url from the stored reply, which is the only place that keeps it. */
async function resultUrl(job: VideoJob, context: StepContext): Promise<string> {
  const result = await readStoredResult(job, context)
  if (result === undefined) {
    throw new StoreFailedError('the reply of the upstream is missing')
  }
  if (result.videoUrl === undefined) {
    throw new NotAVideoError('the stored reply has no video url')
  }
  return result.videoUrl
}

/** @throws StoreFailedError when another try may succeed. */
async function judgeFailure(error: unknown, job: VideoJob, context: StepContext): Promise<NextStep> {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
  logger.warn('store failed', { ...jobFacts(job), reason })
  count('store_failed', ofChannel(job))
  if (error instanceof NotAVideoError) {
    reportRefusedResult(job, reason)
    await recordFailure(context.table, job, { failure: FAILURE_TEXT.resultIsNotAVideo, cause: reason })
    return { step: 'fail', error: 'ResultNotAVideoError' }
  }
  // No later try changes what the guard refused, or the size of a file above the limit.
  const isFinal = error instanceof DownloadError && !error.isRetryable
  if (isFinal) {
    reportRefusedResult(job, reason)
  }
  if (isFinal || nowSeconds(context) >= (job.finishedAt ?? 0) + GIVE_UP_SECONDS) {
    await recordFailure(context.table, job, { failure: FAILURE_TEXT.resultCouldNotBeStored, cause: reason })
    return { step: 'fail', error: 'ResultNotStoredError' }
  }
  throw new StoreFailedError(reason, { cause: error })
}
