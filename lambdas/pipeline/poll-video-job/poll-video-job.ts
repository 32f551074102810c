import type { VideoChannel } from '#core/catalogue/channel.ts'
import {
  FAILURE_TEXT,
  isTerminal,
  isUnwanted,
  type NextStep,
  type ReportedPercent,
  type StepInput,
  type StoredText,
  type VideoJob,
  withReportedPercent,
} from '#core/jobs/video-job.ts'
import { nextPollWait, pollGrace, throttledWait } from '#core/jobs/waits.ts'
import { videoProvider } from '#core/providers/registry.ts'
import { parseJson } from '#core/providers/reply-reading.ts'
import { logWord } from '#core/redaction.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count, measure } from '#platform/telemetry/measures.ts'
import { storeUpstreamText } from '#store/bucket/bucket.ts'
import { countOpenJobs, takePollToken } from '#store/jobs/channels.ts'
import { recordFailure, recordPoll } from '#store/jobs/job-progress.ts'
import type { PollOutcome, VideoAccount } from '#upstream/providers/video-account.ts'
import { cancelUnwantedTask, cancelUpstreamTask } from '../cancel-upstream-task.ts'
import { learnGenerationTime } from '../generation-times.ts'
import {
  nowSeconds,
  ofChannel,
  openAccount,
  reportRefusedResult,
  requireVideoJob,
  type StepContext,
} from '../step-context.ts'

/** A task is gone when this many polls in a row do not find it. Polls in the first minute after the submit do not count. */
const GONE_POLLS = 5
const GONE_AFTER_SECONDS = 60

/** Records what a poll found and decides the next step; undefined means wait and poll again. */
export async function judgePoll(
  outcome: PollOutcome,
  job: VideoJob,
  context: StepContext,
): Promise<NextStep | undefined> {
  switch (outcome.kind) {
    case 'running':
      if (!outcome.isKnownStatus) {
        logger.warn('unknown upstream status', { ...jobFacts(job), status: logWord(outcome.statusWord ?? '') })
        count('unknown_upstream_status', ofChannel(job))
      }
      await keepRunning(outcome.text, job, context)
      return undefined
    case 'succeeded': {
      const pollText = await storePollText(outcome.text, job, context)
      if (outcome.result.videoUrl === undefined) {
        const cause = 'success without a url'
        reportRefusedResult(job, cause)
        await recordFailure(context.table, job, { failure: FAILURE_TEXT.resultIsNotAVideo, cause, pollText })
        return { step: 'fail', error: 'ResultNotAVideoError' }
      }
      await recordPoll(context.table, job, { pollText, finishedAt: nowSeconds(context) })
      return { step: isUnwanted(job) ? 'settle' : 'store' }
    }
    case 'failed': {
      const pollText = await storePollText(outcome.text, job, context)
      await recordFailure(context.table, job, { failure: outcome.message, pollText })
      return { step: 'fail', error: 'UpstreamFailedError' }
    }
    case 'gone':
      return await countGone(job, context)
    case 'unavailable':
      logger.warn('poll without a verdict', { ...jobFacts(job), reason: outcome.reason })
      return undefined
    default:
      return outcome satisfies never
  }
}

async function storePollText(text: string, job: VideoJob, context: StepContext): Promise<StoredText> {
  return await storeUpstreamText(context.openBucket, { job, kind: 'poll', text })
}

/** Writes a reply only when it changed. P1's replies carry a new `request_id` each, so they always do. */
async function keepRunning(text: string, job: VideoJob, context: StepContext): Promise<void> {
  const isUnchanged = job.pollText !== undefined && 'inline' in job.pollText && job.pollText.inline === text
  if (isUnchanged && job.goneCount === 0) {
    return
  }
  const pollText = isUnchanged ? {} : { pollText: await storePollText(text, job, context) }
  const upstreamPercent = percentAfter(text, job, context)
  await recordPoll(context.table, job, {
    ...pollText,
    upstreamPercent,
    ...(job.goneCount === 0 ? {} : { goneCount: 0 }),
  })
}

/** What the record keeps of the percentages that the upstream has said; undefined if it stays as it is. */
function percentAfter(text: string, job: VideoJob, context: StepContext): ReportedPercent | undefined {
  const percent = job.provider === undefined ? undefined : videoProvider(job.provider).readPercent(parseJson(text))
  return percent === undefined ? undefined : withReportedPercent(job.upstreamPercent, percent, nowSeconds(context))
}

async function countGone(job: VideoJob, context: StepContext): Promise<NextStep | undefined> {
  if (nowSeconds(context) - (job.submittedAt ?? 0) < GONE_AFTER_SECONDS) {
    return
  }
  const goneCount = job.goneCount + 1
  if (goneCount >= GONE_POLLS) {
    const cause = `${goneCount} polls in a row did not find the task`
    await recordFailure(context.table, job, { failure: FAILURE_TEXT.taskIsGone, cause })
    return { step: 'fail', error: 'TaskGoneError' }
  }
  await recordPoll(context.table, job, { goneCount })
}

/** Asks the upstream once about a job and decides the next step. */
export async function pollVideoJob(input: StepInput, context: StepContext): Promise<NextStep> {
  const job = await requireVideoJob(context.table, input)
  if (isTerminal(job)) {
    await cancelUpstreamTask(job, context)
    return { step: 'notify' }
  }
  if (job.failure !== undefined) {
    // An earlier try recorded the failure, and its own result was lost.
    return { step: 'fail', error: 'UpstreamFailedError' }
  }
  if (job.submitState !== 'accepted' || job.taskId === undefined || job.channelId === undefined) {
    return { step: 'submit', waitSeconds: 1 }
  }
  if (job.finishedAt !== undefined) {
    return { step: isUnwanted(job) ? 'settle' : 'store' }
  }
  const channel = context.catalogue.findVideoChannel(job.channelId)
  // A channel that left the configuration, and a key that cannot be read, may come back before the deadline.
  const account = channel && (await openAccount(channel, job, context))
  if (channel === undefined || account === undefined) {
    return await waitOrTimeOut({ job, channel: undefined, account: undefined }, context)
  }
  const waitedSeconds = input.next?.waitSeconds
  return await pollUpstream({ job, taskId: job.taskId, channel, account, waitedSeconds }, context)
}

type Poll = {
  readonly job: VideoJob
  readonly taskId: string
  readonly channel: VideoChannel
  readonly account: VideoAccount
  readonly waitedSeconds: number | undefined
}

async function pollUpstream(poll: Poll, context: StepContext): Promise<NextStep> {
  const { job, taskId, channel, account } = poll
  const perSecond = channel.poll.requests_per_second
  if (perSecond !== undefined) {
    const nowMilliseconds = context.nowMilliseconds()
    const token = await takePollToken(context.table, { channelId: channel.id, perSecond, nowMilliseconds })
    if (token === undefined) {
      return await waitOrTimeOut(poll, context, { hasPolled: false })
    }
    await context.pause(token.pauseMilliseconds)
  }
  if (isUnwanted(job) && !job.isCancelRefused && (await cancelUnwantedTask(poll, context)) === 'cancelled') {
    return { step: 'fail', error: 'JobDeletedError' }
  }
  const outcome: PollOutcome = await account.poll(taskId)
  measureFirstPoll(outcome, job, context)
  const next = await judgePoll(outcome, job, context)
  if (outcome.kind === 'succeeded' && next?.step !== 'fail') {
    await learnGenerationTime({ ...poll, text: outcome.text }, context)
  }
  return next ?? (await waitOrTimeOut(poll, context))
}

/** Measures the first reply about the task. A poll without a reply leaves no text on the record, so the next one counts as the first. */
function measureFirstPoll(outcome: PollOutcome, job: VideoJob, context: StepContext): void {
  if ('text' in outcome && job.pollText === undefined && job.submittedAt !== undefined) {
    const seconds = Math.max(0, context.nowMilliseconds() / 1000 - job.submittedAt)
    measure({ first_poll_seconds: seconds }, { model: job.model, ...ofChannel(job) })
  }
}

/** How long a job waits for a channel that left the configuration, and the time between two visits. */
const ORPHANED = { deadlineMinutes: 60, waitSeconds: 60 }

type Waiting = Pick<Poll, 'job'> & {
  readonly channel: VideoChannel | undefined
  readonly account: VideoAccount | undefined
}

/**
 * Checks the deadline after the poll, so that a video finished just in time is not lost. A job that got no token has time
 * for one more poll.
 */
async function waitOrTimeOut(
  waiting: Waiting,
  context: StepContext,
  { hasPolled }: { hasPolled: boolean } = { hasPolled: true },
): Promise<NextStep> {
  const { job, channel } = waiting
  const openJobs = channel?.poll.requests_per_second === undefined ? 0 : await countOpenJobs(context.table, channel.id)
  const elapsedSeconds = context.nowMilliseconds() / 1000 - (job.submittedAt ?? job.createdAt)
  const grace = channel === undefined || hasPolled ? 0 : pollGrace(channel, openJobs)
  if (elapsedSeconds >= (channel?.deadline_minutes ?? ORPHANED.deadlineMinutes) * 60 + grace) {
    await timeOut(waiting, context)
    return { step: 'fail', error: 'GenerationTimedOutError' }
  }
  if (channel === undefined) {
    return { step: 'poll', waitSeconds: ORPHANED.waitSeconds }
  }
  const wait = { channel, elapsedSeconds, openJobs, random: context.random(), usual: job.timing?.usual }
  return { step: 'poll', waitSeconds: hasPolled ? nextPollWait(wait) : throttledWait(wait) }
}

/** Records the failure first: an upstream that also hangs on the cancel must not cost the job its reason. */
async function timeOut({ job, account }: Waiting, context: StepContext): Promise<void> {
  await recordFailure(context.table, job, { failure: FAILURE_TEXT.generationTimedOut })
  count('late_upstream_task', ofChannel(job))
  const cancelled = job.taskId === undefined ? undefined : await account?.cancel(job.taskId)
  logger.warn('generation timed out', { ...jobFacts(job), cancelled })
}
