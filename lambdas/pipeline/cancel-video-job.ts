import { randomUUID } from 'node:crypto'
import { VideoJobConflictError, VideoJobNotFoundError } from '#core/errors.ts'
import { isJobId } from '#core/ids.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { startCancellation } from '#platform/aws/video-executions.ts'
import { markCancelled } from '#store/jobs/cancel-and-delete.ts'
import type { Table } from '#store/table/table.ts'

type CancelContext = { readonly table: Table; readonly nowMilliseconds: () => number }

/**
 * Cancels an open job for its client: it reads `failed` at once, and its money is resolved as for a deletion. A second execution
 * asks the upstream to stop and sends the callback now; without it the job's own execution does both at its next step.
 * @throws VideoJobNotFoundError for a malformed, unknown or deleted job, and another tenant's.
 * @throws VideoJobConflictError for a job that has ended, and for one that was cancelled before.
 */
export async function cancelVideoJob(
  { tenantId, jobId }: { readonly tenantId: string; readonly jobId: string },
  context: CancelContext,
): Promise<VideoJob> {
  const now = context.nowMilliseconds()
  const cancellation = randomUUID()
  const job = isJobId(jobId) ? await markCancelled(context.table, { tenantId, jobId }, now, cancellation) : undefined
  if (job === undefined) {
    throw new VideoJobNotFoundError()
  }
  if (job.cancelledAt === undefined) {
    throw new VideoJobConflictError('the job has ended: there is nothing to cancel')
  }
  if (!isTerminal(job)) {
    // Also for a repeat: the first request may have died before it started the execution.
    await startCancellation(job)
  }
  if (job.cancellation !== cancellation) {
    throw new VideoJobConflictError('the job has ended: it was cancelled before')
  }
  return job
}
