import { callbackBody } from '#core/api/video-job-view.ts'
import { VideoJobConflictError, VideoJobNotFoundError } from '#core/errors.ts'
import { isJobId, isRequestId } from '#core/ids.ts'
import { RESENDS_MAX, resendRefusal } from '#core/jobs/callback.ts'
import { type CallbackAttempt, isVisible, unexpiredStatus, type VideoJob } from '#core/jobs/video-job.ts'
import { signCallback } from '#platform/callback-signature.ts'
import type { OpenUrlSigner, UrlSigner } from '#platform/cdn/video-urls.ts'
import { asError, jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { claimResend, recordCallbackAttempt } from '#store/jobs/callback-claims.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Table, TableWrite } from '#store/table/table.ts'
import { readWebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { type CallbackCommand, sendCallback } from '#upstream/send-callback.ts'
import { nowSeconds, type StepContext } from './step-context.ts'

/** What the callback of a job takes from outside. */
export type CallbackContext = Pick<StepContext, 'table' | 'catalogue' | 'nowMilliseconds' | 'network'> & {
  readonly openUrlSigner: OpenUrlSigner
}

type CallableJob = VideoJob & { readonly callbackUrl: string }

/** Whether the client of a job asked for a callback. */
export function hasCallback(job: VideoJob): job is CallableJob {
  return job.callbackUrl !== undefined
}

/** Writes and signs the callback of an ended job, with a fresh timestamp. All that can fail happens here, before the claim. */
export async function prepareCallback(job: CallableJob, context: CallbackContext): Promise<CallbackCommand> {
  const nowMilliseconds = context.nowMilliseconds()
  const [{ current, previous }, signUrl] = await Promise.all([
    readWebhookSecrets(context.table, job.tenantId, { nowMilliseconds, mayLag: true }),
    unexpiredStatus(job) === 'succeeded' ? context.openUrlSigner(job) : unsigned,
  ])
  const body = callbackBody(job, { signUrl })
  const secrets = previous === undefined ? [current] : [current, previous.secret]
  const headers = signCallback({ secrets, id: `msg_${job.jobId}`, timestampSeconds: nowSeconds(context), body })
  return {
    url: job.callbackUrl,
    allowlist: context.catalogue.config.callback_allowlist,
    body,
    headers: isRequestId(job.requestId) ? { ...headers, 'x-request-id': job.requestId } : headers,
    ...context.network,
  }
}

/** For jobs without a url; never called. */
const unsigned: UrlSigner = () => ''

/** Sends a callback that was claimed, and records the outcome. Never throws: the callback is sent, whatever is recorded. */
export async function deliverCallback(
  command: CallbackCommand,
  { job, attempt }: { readonly job: VideoJob; readonly attempt: number },
  context: CallbackContext,
): Promise<CallbackAttempt> {
  const sentAt = context.nowMilliseconds()
  const delivery = await sendCallback(command)
  if (delivery.outcome === 'delivered') {
    count('callback_delivered')
  } else {
    count('callback_failed', { reason: delivery.status === undefined ? 'no_response' : 'status' })
  }
  logger.info('callback sent', { ...jobFacts(job), attempt, ...delivery })
  const outcome = {
    at: Math.trunc(sentAt / 1000),
    attempt,
    status: delivery.status,
    milliseconds: Math.max(0, Math.round(context.nowMilliseconds() - sentAt)),
    error: delivery.outcome === 'failed' ? delivery.reason : undefined,
    delivered: delivery.outcome === 'delivered',
  }
  try {
    await recordCallbackAttempt(context.table, job, outcome)
  } catch (error) {
    logger.warn('outcome of a callback not recorded', { ...jobFacts(job), attempt, error: asError(error) })
  }
  return outcome
}

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
