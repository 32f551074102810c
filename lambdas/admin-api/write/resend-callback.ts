import { AdminConflictError } from '#core/admin/errors.ts'
import { emptyRequest, parseRequest } from '#core/admin/requests.ts'
import { VideoJobConflictError } from '#core/errors.ts'
import { callbackAttemptView } from '#core/jobs/video-job.ts'
import { resendCallback as resend } from '#lambdas/pipeline/resend-callback.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import { auditEntry } from '#store/audit/audit-entry.ts'
import { jobKeyOf } from './named-target.ts'
import type { WriteOperation } from './write-context.ts'

/** `POST .../callback`: sends the callback of an ended job once more. The entry of the log is written with its number, before it is sent. */
export const resendCallback: WriteOperation = async (event, context) => {
  parseRequest(emptyRequest, event.json)
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
