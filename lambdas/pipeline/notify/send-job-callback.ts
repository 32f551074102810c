import { hasEnded, type StepInput } from '#core/jobs/video-job.ts'
import { claimCallback, FIRST_ATTEMPT } from '#store/jobs/callback-claims.ts'
import { type CallbackContext, deliverCallback, hasCallback, prepareCallback } from '../deliver-callback.ts'
import { requireVideoJob } from '../step-context.ts'

/**
 * Sends the one automatic callback of an ended job, if its client asked for one. Everything that can fail comes first, then the
 * write of the claim, and only then the connection: a crash in between means no callback, never two.
 */
export async function sendJobCallback(input: StepInput, context: CallbackContext): Promise<void> {
  const job = await requireVideoJob(context.table, input)
  if (!hasCallback(job) || job.isDeleted || job.callbackState !== undefined || !hasEnded(job)) {
    return
  }
  const command = await prepareCallback(job, context)
  if (await claimCallback(context.table, job)) {
    await deliverCallback(command, { job, attempt: FIRST_ATTEMPT }, context)
  }
}
