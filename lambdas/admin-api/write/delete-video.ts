import { emptyRequest, parseRequest } from '#core/admin/requests.ts'
import { deleteVideoJob } from '#lambdas/pipeline/delete-video-job.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { auditEntry } from '#store/audit/audit-entry.ts'
import { jobKeyOf } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `DELETE /admin/v1/videos/{job_id}`: makes a job invisible and deletes its video. */
export const deleteVideo: WriteOperation = async (event, context) => {
  parseRequest(emptyRequest, event.json)
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
