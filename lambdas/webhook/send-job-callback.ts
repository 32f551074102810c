import type { UrlSigner } from '#adapters/cdn/signed-url.ts'
import { requireVideoJob } from '#adapters/jobs/require-job.ts'
import { nowSeconds, type StepContext } from '#adapters/jobs/step-context.ts'
import { signCallback } from '#adapters/outbound/callback-signature.ts'
import { sendCallback } from '#adapters/outbound/send-callback.ts'
import { claimCallback } from '#adapters/stores/job-progress.ts'
import { getWebhookSecret } from '#adapters/stores/tenant-store.ts'
import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { StepInput } from '#core/jobs/next-step.ts'
import { isTerminal } from '#core/jobs/video-job.ts'
import { callbackBody } from '#core/jobs/video-job-view.ts'

type Context = Pick<StepContext, 'table' | 'catalogue' | 'nowMilliseconds' | 'network'> & {
  readonly openUrlSigner: () => Promise<UrlSigner>
}

/**
 * Sends the one callback of an ended job, where its client asked for one. Everything that can fail is prepared first;
 * then the claim is written, and only then is a connection made: a crash in between means no callback, never two.
 */
export async function sendJobCallback(input: StepInput, context: Context): Promise<void> {
  const job = await requireVideoJob(context.table, input)
  if (job.callbackUrl === undefined || job.isDeleted || job.callbackState !== undefined || !isTerminal(job)) {
    return
  }
  const [secret, signUrl] = await Promise.all([getWebhookSecret(context.table, job.tenantId), context.openUrlSigner()])
  const body = callbackBody(job, { signUrl })
  const headers = signCallback({ secret, id: `msg_${job.jobId}`, timestampSeconds: nowSeconds(context), body })
  if (!(await claimCallback(context.table, job))) {
    return
  }
  const delivery = await sendCallback({
    url: job.callbackUrl,
    allowlist: context.catalogue.config.callback_allowlist,
    body,
    headers,
    ...context.network,
  })
  count(delivery.outcome === 'delivered' ? 'callback_delivered' : 'callback_failed')
  logger.info('callback sent', { jobId: job.jobId, tenantId: job.tenantId, ...delivery })
}
