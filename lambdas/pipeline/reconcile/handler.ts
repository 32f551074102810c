import { openStepContext } from '../step-context.ts'
import { reconcile } from './reconcile.ts'
import { reconcileJob } from './reconcile-job.ts'

const context = openStepContext()

/**
 * The events that wake Reconcile: the one-minute schedule, a changed execution status (best effort, for speed),
 * and the local host's start (`startedAt`, in milliseconds), after which every execution and every request of before is gone.
 */
type ReconcileEvent = {
  readonly 'detail-type'?: string
  readonly detail?: { readonly input?: string; readonly all?: boolean; readonly startedAt?: number }
}

/**
 * Looks after everything that is due, or after the one job whose execution changed. A failed run is tried again by the next
 * one.
 */
export async function handler(event: ReconcileEvent): Promise<void> {
  if (event['detail-type'] === 'Step Functions Execution Status Change') {
    const { tenantId, jobId } = JSON.parse(event.detail?.input ?? '{}')
    await reconcileJob({ tenantId: String(tenantId), jobId: String(jobId) }, context)
    return
  }
  await reconcile(context, { all: event.detail?.all === true, startedAtMilliseconds: event.detail?.startedAt })
}
