import { VideoJobNotFoundError } from '#core/errors.ts'
import { isJobId } from '#core/ids.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { startCancellation } from '#platform/aws/video-executions.ts'
import type { Clock } from '#platform/clock.ts'
import { asError, logger } from '#platform/telemetry/logger.ts'
import { deleteObject, type OpenBucket } from '#store/bucket/bucket.ts'
import { markDeleted, recordCleanedUp } from '#store/jobs/cancel-and-delete.ts'
import type { Table, TableWrite } from '#store/table/table.ts'

/**
 * Deletes the objects of a deleted job, and the video of a cancelled one, whose replies stay readable: the video, which the CDN does not cache, and upstream replies that were too large
 * for the record. An open job keeps its replies, which decide its bill, and its mark, because its execution may still store
 * the video. The step that ends the job calls this again, and Reconcile calls it for every mark that is left.
 */
export async function cleanUpDeletedJob(
  { table, openBucket }: { table: Table; openBucket: OpenBucket },
  job: VideoJob,
): Promise<void> {
  const bucket = await openBucket()
  await deleteObject(bucket, job.videoKey)
  if (!isTerminal(job)) {
    return
  }
  for (const text of job.isDeleted ? [job.submitText, job.pollText] : []) {
    if (text !== undefined && 'bucketKey' in text) {
      await deleteObject(bucket, text.bucketKey)
    }
  }
  await recordCleanedUp(table, job)
}

type DeleteContext = Pick<Clock, 'nowMilliseconds'> & {
  readonly table: Table
  readonly openBucket: OpenBucket
  /** The entry of the audit log, for a deletion by somebody else than the client. */
  readonly audit?: TableWrite
}

/**
 * Makes a job invisible at once, and deletes its video, if it has one, or has its upstream stop.
 * @throws VideoJobNotFoundError for a malformed or unknown id, another tenant's job, and a job that was deleted before.
 */
export async function deleteVideoJob(
  { tenantId, jobId }: { tenantId: string; jobId: string },
  context: DeleteContext,
): Promise<void> {
  const now = context.nowMilliseconds()
  const job = isJobId(jobId) ? await markDeleted(context.table, { tenantId, jobId }, now, context.audit) : undefined
  if (job === undefined) {
    throw new VideoJobNotFoundError()
  }
  if (isTerminal(job)) {
    await cleanUpOrLeaveToReconcile(job, context)
  } else {
    await startCancellation(job)
  }
}

/** No reader finds the job any more. Reconcile repeats a deletion that the bucket refuses. */
async function cleanUpOrLeaveToReconcile(job: VideoJob, context: DeleteContext): Promise<void> {
  try {
    await cleanUpDeletedJob(context, job)
  } catch (error) {
    logger.error('clean-up left to reconcile', { jobId: job.jobId, error: asError(error) })
  }
}
