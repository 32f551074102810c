import { upstreamModelId } from '#core/catalogue/catalogue.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import { FAILURE_TEXT, type NextStep, type VideoJob, withReportedPercent } from '#core/jobs/video-job.ts'
import { firstPollWait, type JobTiming } from '#core/jobs/waits.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count, measure } from '#platform/telemetry/measures.ts'
import { storeUpstreamText } from '#store/bucket/bucket.ts'
import { claimSubmit, recordAccepted, recordFailure, releaseSubmitClaim } from '#store/jobs/job-progress.ts'
import { reportedPercent } from '#upstream/providers/registry.ts'
import type { SubmitOutcome, VideoProvider } from '#upstream/providers/video-provider.ts'
import { recallTiming } from '../generation-times.ts'
import { nowSeconds } from '../step-context.ts'
import type { SubmitContext } from './submit-context.ts'

/** The longest `Retry-After` of an upstream that a job waits for. */
const RETRY_AFTER_SECONDS_MAX = 300

/** Why an operator's switch keeps a job from a channel, for the record of the job. */
export const CHANNEL_DISABLED = 'is disabled'

type OfferResult =
  /** The submit is over, whatever its outcome. */
  | { readonly kind: 'next_step'; readonly next: NextStep }
  /** The channel is full, disabled, overloaded or out of reach, and may take the job later. */
  | { readonly kind: 'busy'; readonly reason: string; readonly retryAfterSeconds: number | undefined }
  /** The channel will not take this job, now or later. */
  | { readonly kind: 'refused'; readonly reason: string }

/** A job and one channel that may take it. */
export type Offer = { readonly job: VideoJob; readonly request: VideoJobRequest; readonly channel: VideoChannel }

/** An offer whose request was sent. */
type Posted = Omit<Offer, 'request'> & { readonly provider: VideoProvider; readonly timing: JobTiming }

/** Submits a job to one channel: claim, post, record. Gives the claim back only when the upstream accepted nothing. */
export async function submitToChannel(offer: Offer, context: SubmitContext): Promise<OfferResult> {
  const { job, channel, request } = offer
  const model = context.catalogue.findConfiguredVideoModel(job.model)
  const provider = await openProvider(offer, context)
  if (provider === undefined || model === undefined) {
    return { kind: 'refused', reason: 'cannot be opened' }
  }
  const timing = await context.currentCatalogue.readBeside(() => recallTiming(offer, context))
  if (!(await takesJobs(offer, context))) {
    return { kind: 'busy', reason: CHANNEL_DISABLED, retryAfterSeconds: undefined }
  }
  const claim = await claimSubmit(context.table, { job, channel, nowSeconds: nowSeconds(context) })
  if (claim === 'channel_full') {
    return { kind: 'busy', reason: 'has max_open_jobs open', retryAfterSeconds: undefined }
  }
  if (claim === 'job_moved') {
    return { kind: 'next_step', next: { step: 'submit', waitSeconds: 1 } }
  }
  const outcome = await provider.submit({ request, model, upstreamModelId: upstreamModelId(channel, request) })
  logger.info('submit answered', { ...jobFacts({ ...job, channelId: channel.id }), outcome: outcome.kind })
  return await judge(outcome, { job, channel, provider, timing }, context)
}

/** Whether the channel is enabled at the moment of the claim: channels that hang may have used up the age of the switches. */
async function takesJobs({ job, channel }: Offer, { currentCatalogue }: SubmitContext): Promise<boolean> {
  const channels = (await currentCatalogue.read()).videoChannels(job.model, { directOnly: false })
  return channels.some(({ id }) => id === channel.id)
}

/** Undefined when the channel's key cannot be read. Nothing is claimed yet. */
async function openProvider({ job, channel }: Offer, context: SubmitContext): Promise<VideoProvider | undefined> {
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

async function judge(outcome: SubmitOutcome, posted: Posted, context: SubmitContext): Promise<OfferResult> {
  const { job, channel } = posted
  const facts = jobFacts({ ...job, channelId: channel.id })
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'next_step', next: await keepAcceptance(outcome, posted, context) }
    case 'rejected': {
      const pollText = await storeUpstreamText(context.openBucket, { job, kind: 'poll', text: outcome.text })
      await recordFailure(context.table, job, { failure: outcome.message, pollText })
      return { kind: 'next_step', next: { step: 'fail', error: 'UpstreamRejectedError' } }
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
      return { kind: 'next_step', next: { step: 'fail', error: 'SubmitUnknownError' } }
    default:
      return outcome satisfies never
  }
}

function boundedRetryAfter(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(1, Math.ceil(seconds)))
}

/** Records the task. If the job was ended during the submit, its task is an orphan, which is cancelled where possible. */
async function keepAcceptance(
  { taskId, text }: { taskId: string; text: string },
  { job, channel, provider, timing }: Posted,
  context: SubmitContext,
): Promise<NextStep> {
  const submitText = await storeUpstreamText(context.openBucket, { job, kind: 'submit', text })
  const percent = reportedPercent(channel, text)
  const recorded = await recordAccepted(context.table, job, {
    taskId,
    submitText,
    timing,
    acceptedAt: nowSeconds(context),
    upstreamPercent: percent === undefined ? undefined : withReportedPercent(undefined, percent),
  })
  if (recorded === undefined) {
    count('upstream_orphan', { channel: channel.id })
    await provider.cancel(taskId)
    // The callback may have been left to this execution. Notify claims it first, so it is sent once.
    return { step: 'notify' }
  }
  const queueSeconds = Math.max(0, (recorded.submittedAt ?? job.createdAt) - job.createdAt)
  measure({ jobs_submitted: 1, queue_seconds: queueSeconds }, { model: job.model, channel: channel.id })
  // A job that its client cancelled during the submit is stopped by the next poll: every second may begin the work.
  const waitSeconds = recorded.cancelledAt === undefined ? firstPollWait(channel, context.random(), timing.usual) : 1
  return { step: 'poll', waitSeconds }
}
