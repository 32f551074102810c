import { openOperatorTopic } from '#lambdas/pipeline/reconcile/alerts.ts'
import { openStepContext } from '../step-context.ts'
import { reconcile } from './reconcile.ts'
import { reconcileJob } from './reconcile-job.ts'

const context = { ...openStepContext(), publishToOperators: openOperatorTopic() }

/**
 * The events that start Reconcile: the one-minute schedule, a changed execution status (best effort, for speed), and the start
 * of the local host, which no earlier execution or request survives: `process` is its id in the ids of its holds.
 */
type ReconcileEvent = {
  readonly 'detail-type'?: string
  readonly detail?: { readonly input?: string; readonly all?: boolean; readonly process?: string }
}

/** Reconciles everything that is due, or the one job whose execution changed. The next run repeats what a failed run missed. */
export async function handler(event: ReconcileEvent): Promise<void> {
  if (event['detail-type'] === 'Step Functions Execution Status Change') {
    // biome-ignore lint/plugin: the input of an execution, written by the gateway.
    const { tenantId, jobId } = JSON.parse(event.detail?.input ?? '{}')
    await reconcileJob({ tenantId: String(tenantId), jobId: String(jobId) }, context)
    return
  }
  await reconcile(context, { all: event.detail?.all === true, livingProcessId: event.detail?.process })
}
