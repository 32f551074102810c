import { recordFailure } from '#adapters/store/jobs/job-progress.ts'
import { recordCheckAsked } from '#adapters/store/jobs/reference-check.ts'
import { recordWaitingForChannel } from '#adapters/store/jobs/submission.ts'
import { count } from '#adapters/telemetry/count.ts'
import { needsDirectRoute } from '#core/catalogue/catalogue.ts'
import { limitedReferences } from '#core/catalogue/limited-references.ts'
import { FAILURE_TEXT } from '#core/jobs/job-failure.ts'
import { CHECKING_DEFINITION, type NextStep, type StepInput } from '#core/jobs/next-step.ts'
import { submitChannelOrder } from '#core/jobs/submit-channel-order.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { channelWait, firstPollWait } from '#core/jobs/waits.ts'
import { cancelUpstreamTask } from '../cancel-upstream-task.ts'
import { loadVideoJobRequest, requireVideoJob } from '../job-record.ts'
import { nowSeconds, type StepContext } from '../step-context.ts'
import { type Offer, submitToChannel } from './submit-to-channel.ts'

/** A younger claim may belong to an invocation that is still running: the function's timeout and a margin. */
const CLAIM_IN_FLIGHT_SECONDS = 45

/** Channels that hang use up the function's time, and the last one needs a whole submit's worth. The next visit continues. */
const OFFERING_SECONDS_MAX = 8

/** The job keeps the reasons of its channels up to this length. */
const CAUSE_CHARACTERS_MAX = 500

/**
 * Posts a job upstream, at most once, over the first channel that takes it. Before that it may send the job to the check
 * of its references, once.
 */
export async function submitVideoJob(input: StepInput, context: StepContext): Promise<NextStep> {
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
    return { step: 'fail', error: 'JobDeletedError' }
  }
  if (job.referenceCheck === 'refused') {
    // The check recorded its refusal, and then its own result was lost.
    return { step: 'fail', error: 'ReferenceRefusedError' }
  }
  return await offerToChannels(job, { input, context })
}

/** A job that was accepted on an earlier visit has waited already, so the learned times must not lengthen its wait. */
function firstWaitOf(job: VideoJob, context: StepContext): number {
  const channel = job.channelId === undefined ? undefined : context.catalogue.findVideoChannel(job.channelId)
  return channel === undefined ? 1 : firstPollWait(channel, context.random())
}

/**
 * Decides about a claim without a recorded outcome. The upstream may have taken the job, so it is never posted again. A
 * failure on the record is the outcome: an earlier visit recorded it, and its result was lost.
 */
async function judgeOpenClaim(job: VideoJob, context: StepContext): Promise<NextStep> {
  if (job.failure !== undefined) {
    return { step: 'fail', error: 'UpstreamRejectedError' }
  }
  const age = nowSeconds(context) - (job.submittedAt ?? 0)
  if (age < CLAIM_IN_FLIGHT_SECONDS) {
    return { step: 'submit', waitSeconds: Math.max(1, CLAIM_IN_FLIGHT_SECONDS - age) }
  }
  count('upstream_orphan', { channel: job.channelId ?? 'none' })
  const cause = 'the submit was claimed and its outcome never recorded'
  await recordFailure(context.table, job, { failure: FAILURE_TEXT.submitOutcomeUnknown, cause })
  return { step: 'fail', error: 'SubmitUnknownError' }
}

type Visit = { readonly input: StepInput; readonly context: StepContext }

async function offerToChannels(job: VideoJob, { input, context }: Visit): Promise<NextStep> {
  const request = await loadVideoJobRequest(context, job)
  const channels = context.catalogue.videoChannels(job.model, { directOnly: needsDirectRoute(request) })
  const startedAt = nowSeconds(context)
  const reasons: string[] = []
  let waitSeconds: number | undefined
  for (const channel of submitChannelOrder(channels, context.random)) {
    if (nowSeconds(context) - startedAt > OFFERING_SECONDS_MAX) {
      waitSeconds ??= 1
      break
    }
    if (await askForCheck({ job, request, channel }, { input, context })) {
      return { step: 'check' }
    }
    const result = await submitToChannel({ job, request, channel }, context)
    if (result.kind === 'next_step') {
      return result.next
    }
    reasons.push(`${channel.id}: ${result.reason}`)
    if (result.kind === 'busy') {
      const waited = nowSeconds(context) - job.createdAt
      // The gateway's own wait is the minimum: an upstream that sends `Retry-After: 1` for an hour would fill the execution's history.
      const pause = Math.max(result.retryAfterSeconds ?? 0, channelWait(waited, context.random()))
      waitSeconds = Math.min(waitSeconds ?? pause, pause)
    }
  }
  const isTooLate = nowSeconds(context) >= job.createdAt + context.catalogue.config.queue_minutes * 60
  const cause = reasons.join('; ').slice(0, CAUSE_CHARACTERS_MAX) || 'no channel serves the model'
  if (waitSeconds === undefined || isTooLate) {
    await recordFailure(context.table, job, { failure: FAILURE_TEXT.noUpstreamCapacity, cause })
    return { step: 'fail', error: 'NoUpstreamCapacityError' }
  }
  await recordWaitingForChannel(context.table, job, cause)
  return { step: 'submit', waitSeconds }
}

/**
 * Whether the references must be checked before this channel gets the job: once per job, when the channel asks for it, the
 * model limits references, and the execution's definition has the state.
 */
async function askForCheck({ job, request, channel }: Offer, { input, context }: Visit): Promise<boolean> {
  const model = context.catalogue.findVideoModel(job.model)
  return (
    channel.reference_checks &&
    job.referenceCheck === undefined &&
    (input.definition ?? 1) >= CHECKING_DEFINITION &&
    model !== undefined &&
    limitedReferences(request, model).length > 0 &&
    (await recordCheckAsked(context.table, job))
  )
}
