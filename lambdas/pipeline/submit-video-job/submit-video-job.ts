import { recordFailure } from '#adapters/store/jobs/job-progress.ts'
import { recordWaitingForChannel } from '#adapters/store/jobs/submission.ts'
import { count } from '#adapters/telemetry/count.ts'
import { needsDirectRoute } from '#core/catalogue/catalogue.ts'
import { FAILURE_TEXT } from '#core/jobs/failure-text.ts'
import type { NextStep, SubmitInput } from '#core/jobs/next-step.ts'
import {
  JobDeletedError,
  NoUpstreamCapacityError,
  ReferenceRefusedError,
  SubmitUnknownError,
  UpstreamRejectedError,
} from '#core/jobs/step-errors.ts'
import { orderChannels } from '#core/jobs/submit-channel-order.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { channelWait, firstPollWait } from '#core/jobs/waits.ts'
import { cancelUpstreamTask } from '../cancel-upstream-task.ts'
import { loadVideoJobRequest } from '../load-request.ts'
import { requireVideoJob } from '../require-job.ts'
import { nowSeconds, type StepContext } from '../step-context.ts'
import { askForCheck } from './ask-for-check.ts'
import { tryChannel } from './try-channel.ts'

/** A claim younger than this may be another invocation still at work: the function's own timeout and a margin. */
const CLAIM_IN_FLIGHT_SECONDS = 45

/** Channels that hang use up the function's time; the last of them still needs all of a submit's own. The next visit tries on. */
const OFFERING_SECONDS_MAX = 8

/** Of what many channels say the first is enough: it lies on the job. */
const CAUSE_CHARACTERS_MAX = 500

/**
 * Posts a job upstream, at most once, over the first channel that takes it.
 * Before that it may send the job to have its references looked at, once.
 * @throws UpstreamRejectedError, ReferenceRefusedError, SubmitUnknownError, NoUpstreamCapacityError, JobDeletedError: the job fails.
 */
export async function submitVideoJob(input: SubmitInput, context: StepContext): Promise<NextStep> {
  const job = await requireVideoJob(context.table, input)
  if (isTerminal(job)) {
    await cancelUpstreamTask(job, context)
    return { step: 'notify' }
  }
  if (job.submitState === 'accepted') {
    return { step: 'poll', waitSeconds: firstWaitOf(job, context) }
  }
  if (job.submitState === 'sending') {
    return await judgeOpenClaim(job, context)
  }
  if (job.isDeleted) {
    throw new JobDeletedError('deleted before it was submitted')
  }
  if (job.referenceCheck === 'refused') {
    throw new ReferenceRefusedError('the refusal was recorded by a check whose own end was lost')
  }
  return await offerToChannels(job, { input, context })
}

/** An execution that began again, or a submit whose end was lost: part of the wait is over, so nothing learnt lengthens it. */
function firstWaitOf(job: VideoJob, context: StepContext): number {
  const channel = job.channelId === undefined ? undefined : context.catalogue.findVideoChannel(job.channelId)
  return channel === undefined ? 1 : firstPollWait(channel, context.random())
}

/**
 * A claim whose outcome was never recorded: nobody knows whether the upstream took the job, so it is never posted again.
 * With a failure beside it the outcome is known: an earlier visit recorded it, and its own end was lost.
 */
async function judgeOpenClaim(job: VideoJob, context: StepContext): Promise<NextStep> {
  if (job.failure !== undefined) {
    throw new UpstreamRejectedError('the outcome of the submit was recorded by an earlier try')
  }
  const age = nowSeconds(context) - (job.submittedAt ?? 0)
  if (age < CLAIM_IN_FLIGHT_SECONDS) {
    return { step: 'submit', waitSeconds: Math.max(1, CLAIM_IN_FLIGHT_SECONDS - age) }
  }
  count('upstream_orphan', { channel: job.channelId ?? 'none' })
  const cause = 'the submit was claimed and its outcome never recorded'
  await recordFailure(context.table, job, { failure: FAILURE_TEXT.submitOutcomeUnknown, cause })
  throw new SubmitUnknownError(cause)
}

type Visit = { readonly input: SubmitInput; readonly context: StepContext }

async function offerToChannels(job: VideoJob, { input, context }: Visit): Promise<NextStep> {
  const request = await loadVideoJobRequest(context, job)
  const channels = context.catalogue.videoChannels(job.model, { directOnly: needsDirectRoute(request) })
  const startedAt = nowSeconds(context)
  const reasons: string[] = []
  let waitSeconds: number | undefined
  for (const channel of orderChannels(channels, context.random)) {
    if (nowSeconds(context) - startedAt > OFFERING_SECONDS_MAX) {
      waitSeconds ??= 1
      break
    }
    if (await askForCheck({ input, job, request, channel }, context)) {
      return { step: 'check' }
    }
    const outcome = await tryChannel({ job, request, channel }, context)
    if (outcome.kind === 'next_step') {
      return outcome.next
    }
    reasons.push(`${channel.id}: ${outcome.reason}`)
    if (outcome.kind === 'busy') {
      const waited = nowSeconds(context) - job.createdAt
      // Never sooner than our own rhythm: an upstream that says `Retry-After: 1` for an hour would fill the execution's history.
      const pause = Math.max(outcome.retryAfterSeconds ?? 0, channelWait(waited, context.random()))
      waitSeconds = Math.min(waitSeconds ?? pause, pause)
    }
  }
  const isTooLate = nowSeconds(context) >= job.createdAt + context.catalogue.config.queue_minutes * 60
  const cause = reasons.join('; ').slice(0, CAUSE_CHARACTERS_MAX) || 'no channel serves the model'
  if (waitSeconds === undefined || isTooLate) {
    await recordFailure(context.table, job, { failure: FAILURE_TEXT.noUpstreamCapacity, cause })
    throw new NoUpstreamCapacityError(isTooLate ? 'queued for too long' : 'every channel refused')
  }
  await recordWaitingForChannel(context.table, job, cause)
  return { step: 'submit', waitSeconds }
}
