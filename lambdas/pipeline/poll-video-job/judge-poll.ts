import {
  FAILURE_TEXT,
  isUnwanted,
  type NextStep,
  type ReportedPercent,
  type StoredText,
  type VideoJob,
  withReportedPercent,
} from '#core/jobs/video-job.ts'
import { logWord } from '#core/redaction.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { storeUpstreamText } from '#store/bucket/bucket.ts'
import { recordFailure, recordPoll } from '#store/jobs/job-progress.ts'
import { reportedPercent } from '#upstream/providers/registry.ts'
import type { PollOutcome } from '#upstream/providers/video-provider.ts'
import { reportRefusedResult } from '../report-refused-result.ts'
import { nowSeconds, type StepContext } from '../step-context.ts'

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
        count('unknown_upstream_status', { channel: job.channelId ?? 'none' })
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
  const percent = job.provider === undefined ? undefined : reportedPercent({ provider: job.provider }, text)
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
