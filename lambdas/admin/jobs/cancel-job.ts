import { FAILURE_TEXT, type VideoJob } from '#core/jobs/video-job.ts'
import { isCancelledByOperator } from '#lambdas/pipeline/cancel-upstream-task.ts'
import { type ResolveContext, resolveVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { startVideoExecution } from '#platform/aws/video-executions.ts'
import { type Actor, auditEntry } from '#store/audit/audit-entry.ts'
import { deleteObject } from '#store/bucket/bucket.ts'
import { getReservation } from '#store/job-ledger/reservation.ts'

/**
 * Ends a job as failed and releases its reservation in one transaction, with the entry of the audit log; a concurrent settlement wins or loses as a whole. Then deletes
 * the video if it is already in the bucket, and starts an execution, which asks the upstream to stop and sends the callback. A running
 * execution finds the job ended at its next step. A repeated cancel completes what a crash left undone, and does not change a job that
 * ended otherwise.
 * @returns the ended job.
 * @throws StoreRefusal `changed_meanwhile`, ServiceUnavailableError if the job or the table was contended: try again.
 */
export async function cancelVideoJob(job: VideoJob, context: ResolveContext, actor: Actor): Promise<VideoJob> {
  const { tenantId, jobId } = job
  const ended = await resolveVideoJob({ tenantId, jobId }, context, ({ status }) => ({
    kind: 'release',
    error: FAILURE_TEXT.cancelledByOperator,
    audit: auditEntry({
      actor,
      action: 'job cancel',
      target: { kind: 'job', id: jobId, tenantId },
      before: { status },
      after: { status: 'failed' },
      at: context.nowMilliseconds(),
    }),
  }))
  if (!isCancelledByOperator(ended)) {
    return ended
  }
  if (ended.finishedAt !== undefined) {
    await deleteObject(await context.openBucket(), ended.videoKey)
  }
  if (owesCallback(ended) || hasTask(ended)) {
    const reservation = await getReservation(context.table, tenantId, jobId)
    // One number above the last execution: for an ended job, Submit goes straight to Notify.
    await startVideoExecution({ tenantId, jobId }, (reservation?.restarts ?? 0) + 1)
  }
  return ended
}

function owesCallback({ callbackUrl, callbackState, isDeleted }: VideoJob): boolean {
  return callbackUrl !== undefined && callbackState === undefined && !isDeleted
}

function hasTask({ taskId, finishedAt }: VideoJob): boolean {
  return taskId !== undefined && finishedAt === undefined
}
