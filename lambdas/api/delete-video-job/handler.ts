import { cleanUpDeletedJob } from '#adapters/jobs/clean-up-deleted-job.ts'
import { once } from '#adapters/once.ts'
import { markDeleted } from '#adapters/stores/job-deletion.ts'
import { openTable } from '#adapters/stores/table.ts'
import { openBucket } from '#adapters/stores/video-bucket.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { isJobId } from '#core/contract/job-id.ts'
import { VideoJobNotFoundError } from '#core/errors.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { callerOf, jsonResult } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'

const context = { table: openTable(), openBucket: once(openBucket) }

/** DELETE /v1/video/generations/{job_id} */
export const handler = apiHandler({ operation: 'delete-video-job' }, async (event) => {
  const jobId = event.pathParameters?.job_id ?? ''
  const { tenantId } = callerOf(event)
  const job = isJobId(jobId) ? await markDeleted(context.table, { tenantId, jobId }, Date.now()) : undefined
  if (job === undefined) {
    throw new VideoJobNotFoundError()
  }
  if (isTerminal(job)) {
    await cleanUpOrLeaveToReconcile(job)
  }
  return jsonResult(200, '{"deleted":true}')
})

/** The job is gone for every reader already; what the bucket or the CDN refuses now is made up for by the next Reconcile. */
async function cleanUpOrLeaveToReconcile(job: VideoJob): Promise<void> {
  try {
    await cleanUpDeletedJob(context, job)
  } catch (error) {
    logger.error('clean-up left to reconcile', { jobId: job.jobId, error: error instanceof Error ? error : undefined })
  }
}
