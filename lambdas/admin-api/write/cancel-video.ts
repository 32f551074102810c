import { AdminConflictError } from '#core/admin/errors.ts'
import { emptyRequest, parseRequest } from '#core/admin/requests.ts'
import { isTerminal } from '#core/jobs/video-job.ts'
import { cancelVideoJob } from '#lambdas/admin/jobs/cancel-job.ts'
import { isCancelledByOperator } from '#lambdas/pipeline/cancel-upstream-task.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { readNamedJob } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `POST .../cancellation`: ends a job as failed and releases its reservation. A repeat completes what a crash left undone. */
export const cancelVideo: WriteOperation = async (event, context) => {
  parseRequest(emptyRequest, event.json)
  const job = await readNamedJob(event, context)
  const ended =
    isTerminal(job) && !isCancelledByOperator(job) ? job : await cancelVideoJob(job, context, actorOf(event))
  if (!isCancelledByOperator(ended)) {
    throw new AdminConflictError(`the job has ended (${ended.status}): nothing was changed`, 'job_ended')
  }
  const { jobId: id, tenantId: tenant, status } = ended
  return { body: { object: 'video.cancellation', id, tenant, status, changed: !isTerminal(job) } }
}
