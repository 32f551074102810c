import { VideoJobConflictError, VideoJobNotFoundError } from '#core/errors.ts'
import { isJobId } from '#core/ids.ts'
import { RESENDS_MAX, resendRefusal } from '#core/jobs/callback.ts'
import { type CallbackAttempt, isVisible, type VideoJob } from '#core/jobs/video-job.ts'
import { claimResend } from '#store/jobs/callback-claims.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Table, TableWrite } from '#store/table/table.ts'
import { type CallbackContext, deliverCallback, hasCallback, prepareCallback } from './deliver-callback.ts'
import { nowSeconds } from './step-context.ts'

type JobKey = { readonly tenantId: string; readonly jobId: string }

/**
 * Sends the callback of an ended job once more: the same message and `webhook-id`, a new timestamp and signature. As for the
 * automatic one, everything that can fail comes first, then the claim of its number, and only then the connection.
 * @param audit the entry of the audit log that the claim writes in its transaction, if an operator resends.
 * @returns the attempt with its outcome.
 * @throws VideoJobNotFoundError for a malformed, unknown or deleted job, and another tenant's.
 * @throws VideoJobConflictError before the end of the job, without a callback_url, and after the last resend.
 */
export async function resendCallback(
  key: JobKey,
  context: CallbackContext,
  audit?: (attempt: number) => TableWrite,
): Promise<CallbackAttempt> {
  // Each lost race is another resend, so that the limit is reached before the rounds end.
  for (let round = 0; round <= RESENDS_MAX; round += 1) {
    const job = await readVisibleJob(context.table, key, nowSeconds(context))
    const refusal = resendRefusal(job)
    if (refusal !== undefined || !hasCallback(job)) {
      throw new VideoJobConflictError(refusal)
    }
    const command = await prepareCallback(job, context)
    const attempt = await claimResend(context.table, { job, audit })
    if (attempt !== undefined) {
      return await deliverCallback(command, { job, attempt }, context)
    }
  }
  throw new VideoJobConflictError('the callback is being sent again by other requests')
}

async function readVisibleJob(table: Table, { tenantId, jobId }: JobKey, now: number): Promise<VideoJob> {
  const job = isJobId(jobId) ? await getVideoJob(table, tenantId, jobId) : undefined
  if (job === undefined || !isVisible(job, now)) {
    throw new VideoJobNotFoundError()
  }
  return job
}
