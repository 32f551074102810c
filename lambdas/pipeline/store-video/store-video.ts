import {
  FAILURE_TEXT,
  isTerminal,
  isUnwanted,
  type NextStep,
  type StepInput,
  type VideoJob,
} from '#core/jobs/video-job.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count, measure } from '#platform/telemetry/measures.ts'
import { deleteObject, loadText } from '#store/bucket/bucket.ts'
import { recordFailure, recordStored } from '#store/jobs/job-progress.ts'
import { DownloadError } from '#upstream/guard/download.ts'
import { requireVideoJob } from '../job-record.ts'
import { reportRefusedResult } from '../report-refused-result.ts'
import { nowSeconds, type StepContext } from '../step-context.ts'
import { NotAVideoError, type TransferredVideo, transferVideo } from './transfer-video.ts'

/** The time that a finished video has to be fetched and stored. */
const GIVE_UP_SECONDS = 60 * 60

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
  measure(values, { channel: job.channelId ?? 'none' })
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
  const text = await loadText(context.openBucket, job.pollText)
  if (job.provider === undefined || text === undefined) {
    throw new StoreFailedError('the reply of the upstream is missing')
  }
  const { videoUrl } = context.readResult(job.provider, text)
  if (videoUrl === undefined) {
    throw new NotAVideoError('the stored reply has no video url')
  }
  return videoUrl
}

/** @throws StoreFailedError when another try may succeed. */
async function judgeFailure(error: unknown, job: VideoJob, context: StepContext): Promise<NextStep> {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
  logger.warn('store failed', { ...jobFacts(job), reason })
  count('store_failed', { channel: job.channelId ?? 'none' })
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
