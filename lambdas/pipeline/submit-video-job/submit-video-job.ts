import { needsDirectRoute, submitChannelOrder, upstreamModelId } from '#core/catalogue/catalogue.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import { limitedReferences } from '#core/catalogue/references.ts'
import {
  FAILURE_TEXT,
  isTerminal,
  isUnwanted,
  type JobErrorCode,
  type NextStep,
  type StepInput,
  type VideoJob,
  withReportedPercent,
} from '#core/jobs/video-job.ts'
import { channelWait, firstPollWait, type JobTiming } from '#core/jobs/waits.ts'
import { videoProvider } from '#core/providers/registry.ts'
import { parseJson } from '#core/providers/reply-reading.ts'
import { asError, jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count, measure } from '#platform/telemetry/measures.ts'
import { storeUpstreamText } from '#store/bucket/bucket.ts'
import { CurrentCatalogue } from '#store/current-catalogue.ts'
import {
  claimSubmit,
  recordAccepted,
  recordCheckAsked,
  recordFailure,
  recordWaitingForChannel,
  releaseSubmitClaim,
} from '#store/jobs/job-progress.ts'
import type { SubmitOutcome, VideoAccount } from '#upstream/providers/video-account.ts'
import { cancelUnwantedTask, cancelUpstreamTask } from '../cancel-upstream-task.ts'
import { recallTiming } from '../generation-times.ts'
import {
  loadVideoJobRequest,
  nowSeconds,
  ofChannel,
  openAccount,
  openStepContext,
  requireVideoJob,
  type StepContext,
} from '../step-context.ts'

/** The longest `Retry-After` of an upstream that a job waits for. */
const RETRY_AFTER_SECONDS_MAX = 300

/** Why an operator's switch keeps a job from a channel, for the record of the job. */
export const CHANNEL_DISABLED = 'is disabled'

type OfferResult =
  /** The submit is over, whatever its outcome. */
  | { readonly kind: 'next_step'; readonly next: NextStep }
  /** The channel is full, disabled, overloaded or out of reach, and may take the job later. */
  | (NotTaken & { readonly kind: 'busy'; readonly retryAfterSeconds?: number | undefined })
  /** The channel will not take this job, now or later. */
  | (NotTaken & { readonly kind: 'refused' })

/** Why a channel did not take a job: for operators, and for the client, if no other channel takes it. */
type NotTaken = { readonly reason: string; readonly code: JobErrorCode }

/** A job and one channel that may take it. */
export type Offer = { readonly job: VideoJob; readonly request: VideoJobRequest; readonly channel: VideoChannel }

/** An offer whose request was sent. */
type Posted = Omit<Offer, 'request'> & { readonly account: VideoAccount; readonly timing: JobTiming }

/** Submits a job to one channel: claim, post, record. Gives the claim back only when the upstream accepted nothing. */
export async function submitToChannel(offer: Offer, context: SubmitContext): Promise<OfferResult> {
  const { job, channel, request } = offer
  const model = context.catalogue.findConfiguredVideoModel(job.model)
  const account = await openAccount(channel, job, context)
  if (account === undefined) {
    count('channel_refused', { channel: channel.id })
  }
  if (account === undefined || model === undefined) {
    return { kind: 'refused', reason: 'cannot be opened', code: 'upstream_auth' }
  }
  const timing = await context.currentCatalogue.readBeside(() => recallTiming(offer, context))
  if (!(await takesJobs(offer, context))) {
    return { kind: 'busy', reason: CHANNEL_DISABLED, code: 'no_channel_available' }
  }
  const claim = await claimSubmit(context.table, { job, channel, nowSeconds: nowSeconds(context) })
  if (claim === 'channel_full') {
    return { kind: 'busy', reason: 'has max_open_jobs open', code: 'no_channel_available' }
  }
  if (claim === 'job_moved') {
    return { kind: 'next_step', next: { step: 'submit', waitSeconds: 1 } }
  }
  const outcome = await account.submit({ request, model, upstreamModelId: upstreamModelId(channel, request) })
  logger.info('submitted', { ...jobFacts({ ...job, channelId: channel.id }), outcome: outcome.kind })
  return await judge(outcome, { job, channel, account, timing }, context)
}

/** Whether the channel is enabled at the moment of the claim: channels that hang may have used up the age of the switches. */
async function takesJobs({ job, channel }: Offer, { currentCatalogue }: SubmitContext): Promise<boolean> {
  const channels = (await currentCatalogue.read()).videoChannels(job.model, { directOnly: false })
  return channels.some(({ id }) => id === channel.id)
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
      return { kind: 'refused', reason: outcome.reason, code: outcome.code }
    case 'busy':
    case 'unreachable':
      logger.warn('channel busy', { ...facts, reason: outcome.reason })
      await releaseSubmitClaim(context.table, job, channel.id)
      return {
        kind: 'busy',
        reason: outcome.reason,
        code: outcome.kind === 'busy' ? 'upstream_rate_limited' : 'upstream_unavailable',
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
  { job, channel, account, timing }: Posted,
  context: SubmitContext,
): Promise<NextStep> {
  const submitText = await storeUpstreamText(context.openBucket, { job, kind: 'submit', text })
  const percent = videoProvider(channel.provider).readPercent(parseJson(text))
  const recorded = await recordAccepted(context.table, job, {
    taskId,
    submitText,
    timing,
    acceptedAt: nowSeconds(context),
    upstreamPercent: percent === undefined ? undefined : withReportedPercent(undefined, percent),
  })
  if (recorded === undefined) {
    count('upstream_orphan', { channel: channel.id })
    await account.cancel(taskId)
    // The callback may have been left to this execution. Notify claims it first, so it is sent once.
    return { step: 'notify' }
  }
  const queueSeconds = Math.max(0, (recorded.submittedAt ?? job.createdAt) - job.createdAt)
  measure({ jobs_submitted: 1, queue_seconds: queueSeconds }, { model: job.model, channel: channel.id })
  // A job that was cancelled or deleted during the submit is stopped by the next poll: every second may begin the work.
  const waitSeconds = isUnwanted(recorded) ? 1 : firstPollWait(channel, context.random(), timing.usual)
  return { step: 'poll', waitSeconds }
}

/** A younger claim may belong to an invocation that is still running: the function's timeout and a margin. */
export const CLAIM_IN_FLIGHT_SECONDS = 45

/** Channels that hang use up the function's time, and the last one needs a whole submit's worth. The next visit continues. */
export const OFFERING_SECONDS_MAX = 8

/** The job keeps the reasons of its channels up to this length. */
const CAUSE_CHARACTERS_MAX = 500

/**
 * Posts a job upstream, at most once, over the first channel that takes it. Before that it may send the job to the check
 * of its references, once.
 */
export async function submitVideoJob(input: StepInput, context: SubmitContext): Promise<NextStep> {
  const job = await context.currentCatalogue.readBeside(() => requireVideoJob(context.table, input))
  if (isTerminal(job)) {
    await cancelUpstreamTask(job, context)
    return { step: 'notify' }
  }
  if (job.submitState === 'accepted') {
    return (await stopUnwanted(job, context)) ?? { step: 'poll', waitSeconds: firstWaitOf(job, context) }
  }
  if (job.submitState === 'sending') {
    return await judgeOpenClaim(job, context)
  }
  if (isUnwanted(job)) {
    return { step: 'fail', error: 'JobDeletedError' }
  }
  if (job.referenceCheck === 'refused') {
    // The check recorded its refusal, and then its own result was lost.
    return { step: 'fail', error: 'ReferenceRefusedError' }
  }
  return await offerToChannels(job, { input, context })
}

/**
 * Asks the upstream at once to stop the task of a job that was cancelled or deleted, so that it need not wait for the next poll. If the
 * upstream refuses, this execution only sends the callback, and the polling one continues. If none polls, Reconcile starts one, which
 * does not ask the upstream again.
 * @returns undefined where the execution goes on with a poll.
 */
async function stopUnwanted(job: VideoJob, context: SubmitContext): Promise<NextStep | undefined> {
  const { channelId, taskId, isCancelRefused, finishedAt } = job
  const channel = channelId === undefined ? undefined : context.catalogue.findVideoChannel(channelId)
  const isAsked = isUnwanted(job) && !isCancelRefused && finishedAt === undefined
  if (!isAsked || taskId === undefined || channel === undefined) {
    return undefined
  }
  try {
    const account = await context.openAccount(channel, job)
    const outcome = await cancelUnwantedTask({ job, taskId, account }, context)
    logger.info(job.isDeleted ? 'deleted' : 'cancelled by the client', { ...jobFacts(job), cancelled: outcome })
    if (outcome === 'unknown') {
      return undefined
    }
    return outcome === 'cancelled' ? { step: 'fail', error: 'JobDeletedError' } : { step: 'notify' }
  } catch (error) {
    // A step that keeps failing would release a job whose upstream works on it. The polls ask again.
    logger.warn('unwanted job not stopped upstream', { ...jobFacts(job), error: asError(error) })
    return undefined
  }
}

/** A job that was accepted on an earlier visit has waited already, so the learned times must not lengthen its wait. */
function firstWaitOf(job: VideoJob, context: SubmitContext): number {
  const channel = job.channelId === undefined ? undefined : context.catalogue.findVideoChannel(job.channelId)
  return channel === undefined ? 1 : firstPollWait(channel, context.random())
}

/**
 * Decides about a claim without a recorded outcome. The upstream may have taken the job, so it is never posted again. A
 * failure on the record is the outcome: an earlier visit recorded it, and its result was lost.
 */
async function judgeOpenClaim(job: VideoJob, context: SubmitContext): Promise<NextStep> {
  if (job.failure !== undefined) {
    return { step: 'fail', error: 'UpstreamRejectedError' }
  }
  const age = nowSeconds(context) - (job.submittedAt ?? 0)
  if (age < CLAIM_IN_FLIGHT_SECONDS) {
    return { step: 'submit', waitSeconds: Math.max(1, CLAIM_IN_FLIGHT_SECONDS - age) }
  }
  count('upstream_orphan', ofChannel(job))
  const cause = 'the submit was claimed and its outcome never recorded'
  await recordFailure(context.table, job, { failure: FAILURE_TEXT.submitOutcomeUnknown, cause })
  return { step: 'fail', error: 'SubmitUnknownError' }
}

type Visit = { readonly input: StepInput; readonly context: SubmitContext }

async function offerToChannels(job: VideoJob, { input, context }: Visit): Promise<NextStep> {
  const request = await loadVideoJobRequest(context, job)
  const { enabled, disabled } = await currentChannels(job, { request, context })
  const startedAt = nowSeconds(context)
  const reasons = disabled.map(({ id }) => `${id}: ${CHANNEL_DISABLED}`)
  const codes: JobErrorCode[] = []
  // An operator may enable the channel at any time, so the job waits as for a full one.
  let waitSeconds = disabled.length === 0 ? undefined : pauseFor(job, context)
  for (const channel of submitChannelOrder(enabled, context.random)) {
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
    codes.push(result.code)
    if (result.kind === 'busy') {
      // The gateway's own wait is the minimum: an upstream that sends `Retry-After: 1` for an hour would fill the execution's history.
      const pause = Math.max(result.retryAfterSeconds ?? 0, pauseFor(job, context))
      waitSeconds = Math.min(waitSeconds ?? pause, pause)
    }
  }
  const isTooLate = nowSeconds(context) >= job.createdAt + context.catalogue.config.queue_minutes * 60
  const cause = reasons.join('; ').slice(0, CAUSE_CHARACTERS_MAX) || 'no channel serves the model'
  if (waitSeconds === undefined || isTooLate) {
    const errorCode = errorCodeOf(codes)
    await recordFailure(context.table, job, { failure: FAILURE_TEXT.noUpstreamCapacity, cause, errorCode })
    return { step: 'fail', error: 'NoUpstreamCapacityError' }
  }
  await recordWaitingForChannel(context.table, job, cause)
  return { step: 'submit', waitSeconds }
}

/** A channel that fails says more to the client than one that has no room: as for relayed requests. */
function errorCodeOf(codes: readonly JobErrorCode[]): JobErrorCode {
  const isFailure = (code: JobErrorCode) => code !== 'no_channel_available' && code !== 'upstream_rate_limited'
  return codes.findLast(isFailure) ?? codes.at(-1) ?? 'no_channel_available'
}

type Channels = { readonly enabled: readonly VideoChannel[]; readonly disabled: readonly VideoChannel[] }

/** The channels that serve the request, by whether an operator has disabled them. */
async function currentChannels(
  job: VideoJob,
  { request, context }: { readonly request: VideoJobRequest; readonly context: SubmitContext },
): Promise<Channels> {
  const catalogue = await context.currentCatalogue.read()
  const options = { directOnly: needsDirectRoute(request) }
  const enabled = catalogue.videoChannels(job.model, options)
  const taking = new Set(enabled.map(({ id }) => id))
  return {
    enabled,
    disabled: catalogue.configuredVideoChannels(job.model, options).filter(({ id }) => !taking.has(id)),
  }
}

/** Seconds until the job is offered again. */
function pauseFor(job: VideoJob, context: SubmitContext): number {
  return channelWait(nowSeconds(context) - job.createdAt, context.random())
}

/**
 * Whether the references must be checked before this channel gets the job: once per job, when the channel asks for it and the
 * model limits references.
 */
async function askForCheck({ job, request, channel }: Offer, { context }: Visit): Promise<boolean> {
  const model = context.catalogue.findConfiguredVideoModel(job.model)
  return (
    channel.reference_checks &&
    job.referenceCheck === undefined &&
    model !== undefined &&
    limitedReferences(request, model).length > 0 &&
    (await recordCheckAsked(context.table, job))
  )
}

/** What Submit takes from outside. Only this step asks for the switches: a disabled channel gets no new job, and its open jobs go on. */
export type SubmitContext = StepContext & {
  readonly currentCatalogue: Pick<CurrentCatalogue, 'read' | 'readBeside'>
}

/** The context of the deployed function, from its environment. */
export function openSubmitContext(): SubmitContext {
  const context = openStepContext()
  return { ...context, currentCatalogue: new CurrentCatalogue(context) }
}
