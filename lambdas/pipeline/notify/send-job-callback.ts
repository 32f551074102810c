import type { OpenUrlSigner } from '#adapters/cdn/video-url-signer.ts'
import { signCallback } from '#adapters/outbound/callback-signature.ts'
import { sendCallback } from '#adapters/outbound/send-callback.ts'
import { readWebhookSecrets } from '#adapters/store/accounts/webhook-secrets.ts'
import { claimCallback } from '#adapters/store/jobs/job-progress.ts'
import { count } from '#adapters/telemetry/count.ts'
import { jobFacts } from '#adapters/telemetry/job-facts.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { StepInput } from '#core/jobs/next-step.ts'
import { isTerminal } from '#core/jobs/video-job.ts'
import { callbackBody } from '#core/jobs/video-job-view.ts'
import { isRequestId } from '#core/request-id.ts'
import { requireVideoJob } from '../job-record.ts'
import { nowSeconds, type StepContext } from '../step-context.ts'

type Context = Pick<StepContext, 'table' | 'catalogue' | 'nowMilliseconds' | 'network'> & {
  readonly openUrlSigner: OpenUrlSigner
}

/**
 * Sends the one callback of an ended job, if its client asked for one. Everything that can fail comes first, then the write
 * of the claim, and only then the connection: a crash in between means no callback, never two.
 */
export async function sendJobCallback(input: StepInput, context: Context): Promise<void> {
  const job = await requireVideoJob(context.table, input)
  if (job.callbackUrl === undefined || job.isDeleted || job.callbackState !== undefined || !isTerminal(job)) {
    return
  }
  const nowMilliseconds = context.nowMilliseconds()
  const [{ current, previous }, signUrl] = await Promise.all([
    readWebhookSecrets(context.table, job.tenantId, { nowMilliseconds, mayLag: true }),
    context.openUrlSigner(job),
  ])
  const body = callbackBody(job, { signUrl })
  const secrets = previous === undefined ? [current] : [current, previous.secret]
  const headers = signCallback({ secrets, id: `msg_${job.jobId}`, timestampSeconds: nowSeconds(context), body })
  if (!(await claimCallback(context.table, job))) {
    return
  }
  const delivery = await sendCallback({
    url: job.callbackUrl,
    allowlist: context.catalogue.config.callback_allowlist,
    body,
    headers: isRequestId(job.requestId) ? { ...headers, 'x-request-id': job.requestId } : headers,
    ...context.network,
  })
  if (delivery.outcome === 'delivered') {
    count('callback_delivered')
  } else {
    count('callback_failed', { reason: delivery.status === undefined ? 'no_answer' : 'status' })
  }
  logger.info('callback sent', { ...jobFacts(job), ...delivery })
}
