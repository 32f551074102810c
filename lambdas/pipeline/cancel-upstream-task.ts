import { FAILURE_TEXT, isCancelledByOperator, type VideoJob } from '#core/jobs/video-job.ts'
import type { CancelOutcome } from '#core/providers/video-provider.ts'
import { asError, jobFacts, logger } from '#platform/telemetry/logger.ts'
import { recordFailure, recordPoll } from '#store/jobs/job-progress.ts'
import type { VideoAccount } from '#upstream/providers/video-account.ts'
import type { StepContext } from './step-context.ts'

/**
 * Cancels the upstream task of a job that the operator has cancelled; does nothing for any other ended job. Each execution
 * that finds such a job asks once more, which is harmless. Never throws: the job has ended, whatever the upstream does.
 */
export async function cancelUpstreamTask(
  job: VideoJob,
  { catalogue, openAccount }: Pick<StepContext, 'catalogue' | 'openAccount'>,
): Promise<void> {
  const channel = job.channelId === undefined ? undefined : catalogue.findVideoChannel(job.channelId)
  if (
    !isCancelledByOperator(job) ||
    job.taskId === undefined ||
    job.finishedAt !== undefined ||
    channel === undefined
  ) {
    return
  }
  try {
    const account = await openAccount(channel, job)
    const cancelled = await account.cancel(job.taskId)
    logger.info('cancelled by the operator', { ...jobFacts(job), cancelled })
  } catch (error) {
    logger.warn('cancelled job not stopped upstream', { ...jobFacts(job), error: asError(error) })
  }
}

type OpenTask = {
  readonly job: Pick<VideoJob, 'tenantId' | 'jobId' | 'isDeleted'>
  readonly taskId: string
  readonly account: Pick<VideoAccount, 'cancel'>
}

/**
 * Asks the upstream to stop the task of a job that its client has deleted or cancelled, and records the reply. A task that the upstream
 * will not cancel runs to its end and is billed.
 */
export async function cancelUnwantedTask(
  { job, taskId, account }: OpenTask,
  { table }: Pick<StepContext, 'table'>,
): Promise<CancelOutcome> {
  const outcome = await account.cancel(taskId)
  if (outcome === 'cancelled') {
    const failure = job.isDeleted ? FAILURE_TEXT.deleted : FAILURE_TEXT.cancelledByClient
    await recordFailure(table, job, { failure })
  } else if (outcome === 'refused') {
    await recordPoll(table, job, { isCancelRefused: true })
  }
  return outcome
}
