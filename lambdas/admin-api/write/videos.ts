import { AdminConflictError } from '#core/admin/errors.ts'
import { emptyRequest, parseRequest } from '#core/admin/parse-request.ts'
import { VideoJobConflictError } from '#core/errors.ts'
import { callbackAttemptView, isCancelledByOperator, isTerminal } from '#core/jobs/video-job.ts'
import { cancelVideoJob, redriveVideoJob } from '#lambdas/admin/jobs.ts'
import { deleteVideoJob } from '#lambdas/pipeline/delete-video-job.ts'
import { resendCallback as resend } from '#lambdas/pipeline/deliver-callback.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { auditEntry } from '#store/audit/audit-entry.ts'
import { jobKeyOf, readNamedJob, type WriteOperation } from './write-context.ts'

/** `POST .../cancellation`: ends a job as failed and releases its reservation. A repeat completes what a crash left undone. */
export const cancelVideo: WriteOperation = async (event, context) => {
  parseRequest(emptyRequest(), event.json)
  const job = await readNamedJob(event, context)
  const ended =
    isTerminal(job) && !isCancelledByOperator(job) ? job : await cancelVideoJob(job, context, actorOf(event))
  if (!isCancelledByOperator(ended)) {
    throw new AdminConflictError(`the job has ended (${ended.status}): nothing was changed`, 'job_ended')
  }
  const { jobId: id, tenantId: tenant, status } = ended
  return { body: { object: 'video.cancellation', id, tenant, status, changed: !isTerminal(job) } }
}

/** `POST .../redrive`: starts an execution for an open job whose execution is missing or broken. */
export const redriveVideo: WriteOperation = async (event, context) => {
  parseRequest(emptyRequest(), event.json)
  const job = await readNamedJob(event, context)
  const { execution, replaced } = await redriveVideoJob(job, context, actorOf(event))
  return { body: { object: 'video.redrive', id: job.jobId, tenant: job.tenantId, execution, replaced } }
}

/** `POST .../callback`: sends the callback of an ended job once more. The entry of the log is written with its number, before it is sent. */
export const resendCallback: WriteOperation = async (event, context) => {
  parseRequest(emptyRequest(), event.json)
  const job = jobKeyOf(event)
  const [actor, at] = [actorOf(event), context.nowMilliseconds()]
  const target = { kind: 'job', id: job.jobId, tenantId: job.tenantId } as const
  const claimed = (attempt: number) =>
    auditEntry({ actor, action: 'job callback', target, before: null, after: { attempts: attempt }, at })
  const callback = { ...context, catalogue: context.openCatalogue() }
  try {
    const attempt = await resend(job, callback, claimed)
    return { body: { object: 'video.callback', id: job.jobId, ...callbackAttemptView(attempt) } }
  } catch (error) {
    throw error instanceof VideoJobConflictError
      ? new AdminConflictError(error.message, 'callback_refused', { cause: error })
      : error
  }
}

/** `DELETE /admin/v1/videos/{job_id}`: makes a job invisible and deletes its video. */
export const deleteVideo: WriteOperation = async (event, context) => {
  parseRequest(emptyRequest(), event.json)
  const { tenantId, jobId } = jobKeyOf(event)
  const audit = auditEntry({
    actor: actorOf(event),
    action: 'job delete',
    target: { kind: 'job', id: jobId, tenantId },
    before: null,
    after: null,
    at: context.nowMilliseconds(),
  })
  await deleteVideoJob({ tenantId, jobId }, { ...context, audit })
  return {}
}
