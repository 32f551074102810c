import type { SubmitOutcome, VideoProvider } from '#adapters/providers/video/video-provider.ts'
import { storeUpstreamText } from '#adapters/store/bucket/text-store.ts'
import { recordFailure } from '#adapters/store/jobs/job-progress.ts'
import { claimSubmit, recordAccepted, releaseSubmitClaim } from '#adapters/store/jobs/submission.ts'
import { count } from '#adapters/telemetry/count.ts'
import { jobFacts } from '#adapters/telemetry/job-facts.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { measure } from '#adapters/telemetry/measure.ts'
import { upstreamModelId } from '#core/catalogue/catalogue.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { FAILURE_TEXT } from '#core/jobs/failure-text.ts'
import type { JobTiming } from '#core/jobs/generation-times.ts'
import type { NextStep } from '#core/jobs/next-step.ts'
import { SubmitUnknownError, UpstreamRejectedError } from '#core/jobs/step-errors.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { firstPollWait } from '#core/jobs/waits.ts'
import type { VideoJobRequest } from '#core/parameters/video-parameters.ts'
import type { StepContext } from '../step-context.ts'
import { nowSeconds } from '../step-context.ts'
import { recallTiming } from './recall-timing.ts'

/** The longest pause that an upstream's `Retry-After` is obeyed for. */
const RETRY_AFTER_SECONDS_MAX = 300

/** What came of offering the job to one channel. */
export type ChannelOutcome =
  | { readonly kind: 'next_step'; readonly next: NextStep }
  /** Full, overloaded or out of reach: later. */
  | { readonly kind: 'busy'; readonly reason: string; readonly retryAfterSeconds: number | undefined }
  /** Will not take this job, now or later. */
  | { readonly kind: 'refused'; readonly reason: string }

type Attempt = { readonly job: VideoJob; readonly request: VideoJobRequest; readonly channel: VideoChannel }

/** An attempt whose request went out. */
type Posted = Omit<Attempt, 'request'> & { readonly provider: VideoProvider; readonly timing: JobTiming }

/**
 * Offers a job to one channel: claim, post, record. Only when nothing was accepted is the claim given back.
 * @throws UpstreamRejectedError when the request itself was refused, SubmitUnknownError when nobody knows.
 */
export async function tryChannel(attempt: Attempt, context: StepContext): Promise<ChannelOutcome> {
  const { job, channel } = attempt
  const model = context.catalogue.findVideoModel(job.model)
  const provider = await openProvider(attempt, context)
  if (provider === undefined || model === undefined) {
    return { kind: 'refused', reason: 'cannot be opened' }
  }
  const timing = await recallTiming(attempt, context)
  const claim = await claimSubmit(context.table, { job, channel, nowSeconds: nowSeconds(context) })
  if (claim === 'channel_full') {
    return { kind: 'busy', reason: 'has max_open_jobs open', retryAfterSeconds: undefined }
  }
  if (claim === 'job_moved') {
    return { kind: 'next_step', next: { step: 'submit', waitSeconds: 1 } }
  }
  const upstreamModel = upstreamModelId(channel, attempt.request)
  const outcome = await provider.submit({ request: attempt.request, model, upstreamModelId: upstreamModel })
  logger.info('submit answered', { ...jobFacts({ ...job, channelId: channel.id }), outcome: outcome.kind })
  return await judge(outcome, { job, channel, provider, timing }, context)
}

/** A channel whose key cannot be read is out of order, before anything was claimed. */
async function openProvider({ job, channel }: Attempt, context: StepContext): Promise<VideoProvider | undefined> {
  try {
    return await context.openProvider(channel, job)
  } catch (error) {
    logger.error('channel cannot be opened', {
      ...jobFacts({ ...job, channelId: channel.id }),
      error: error instanceof Error ? error : undefined,
    })
    count('channel_refused', { channel: channel.id })
    return undefined
  }
}

async function judge(outcome: SubmitOutcome, posted: Posted, context: StepContext): Promise<ChannelOutcome> {
  const { job, channel } = posted
  const facts = jobFacts({ ...job, channelId: channel.id })
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'next_step', next: await keepAcceptance(outcome, posted, context) }
    case 'rejected': {
      const pollText = await storeUpstreamText(context.openBucket, { job, kind: 'poll', text: outcome.text })
      await recordFailure(context.table, job, { failure: outcome.message, pollText })
      throw new UpstreamRejectedError('the upstream refused the request')
    }
    case 'channel_refused':
      logger.error('channel refused', { ...facts, reason: outcome.reason })
      count('channel_refused', { channel: channel.id })
      await releaseSubmitClaim(context.table, job, channel.id)
      return { kind: 'refused', reason: outcome.reason }
    case 'busy':
    case 'unreachable':
      logger.warn('channel busy', { ...facts, reason: outcome.reason })
      await releaseSubmitClaim(context.table, job, channel.id)
      return {
        kind: 'busy',
        reason: outcome.reason,
        retryAfterSeconds: outcome.kind === 'busy' ? boundedRetryAfter(outcome.retryAfterSeconds) : undefined,
      }
    case 'unknown':
      logger.error('submit outcome unknown', { ...facts, reason: outcome.reason })
      count('upstream_orphan', { channel: channel.id })
      await recordFailure(context.table, job, {
        failure: FAILURE_TEXT.submitOutcomeUnknown,
        cause: `${channel.id}: ${outcome.reason}`,
      })
      throw new SubmitUnknownError('the upstream may have accepted the job')
    default:
      return outcome satisfies never
  }
}

function boundedRetryAfter(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(1, Math.ceil(seconds)))
}

/** Records the task. A job that was ended while the upstream answered leaves an orphan there: it is cancelled where possible. */
async function keepAcceptance(
  { taskId, text }: { taskId: string; text: string },
  { job, channel, provider, timing }: Posted,
  context: StepContext,
): Promise<NextStep> {
  const submitText = await storeUpstreamText(context.openBucket, { job, kind: 'submit', text })
  const recorded = await recordAccepted(context.table, job, { taskId, submitText, timing })
  if (recorded === undefined) {
    count('upstream_orphan', { channel: channel.id })
    await provider.cancel(taskId)
    // Whoever ended it may have left the callback to this execution; it is claimed, so that it is sent once.
    return { step: 'notify' }
  }
  const queueSeconds = Math.max(0, (recorded.submittedAt ?? job.createdAt) - job.createdAt)
  measure({ jobs_submitted: 1, queue_seconds: queueSeconds }, { model: job.model, channel: channel.id })
  return { step: 'poll', waitSeconds: firstPollWait(channel, context.random(), timing.usual) }
}
