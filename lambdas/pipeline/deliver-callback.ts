import { callbackBody } from '#core/api/video-job-view.ts'
import { isRequestId } from '#core/ids.ts'
import { type CallbackAttempt, unexpiredStatus, type VideoJob } from '#core/jobs/video-job.ts'
import { signCallback } from '#platform/callback-signature.ts'
import type { OpenUrlSigner, UrlSigner } from '#platform/cdn/video-urls.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { recordCallbackAttempt } from '#store/jobs/callback-claims.ts'
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
    count('callback_failed', { reason: delivery.status === undefined ? 'no_answer' : 'status' })
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
    const about = { ...jobFacts(job), attempt, error: error instanceof Error ? error : undefined }
    logger.warn('outcome of a callback not recorded', about)
  }
  return outcome
}
