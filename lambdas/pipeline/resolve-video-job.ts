import { getReservation, type Reservation } from '#adapters/store/money/reservation.ts'
import { JobMovedError, type Resolution, resolveReservation } from '#adapters/store/money/resolve-reservation.ts'
import { deleteResolvedRequest } from '#adapters/store/money/resolved-request.ts'
import { count } from '#adapters/telemetry/count.ts'
import { jobFacts } from '#adapters/telemetry/job-facts.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { creditsForGraphs, measure } from '#adapters/telemetry/measure.ts'
import type { StepInput } from '#core/jobs/next-step.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { cleanUpDeletedJob } from './clean-up-deleted-job.ts'
import { JobRecordMissingError, requireVideoJob } from './job-record.ts'
import type { StepContext } from './step-context.ts'

/** Times that a job may change under our hands before the step gives up and is retried as a whole. */
const TRIES_MAX = 5

/** What ending a job needs; deciding how may need more. */
export type ResolveContext = Pick<StepContext, 'table' | 'openBucket' | 'nowMilliseconds'>

type Decide = (job: VideoJob, reservation: Reservation) => Promise<Resolution> | Resolution

/**
 * Ends a job by what `decide` says of its present state, exactly once, and removes what nobody needs any more: a request that
 * lies in the bucket, and all that a deleted job left. What the bucket refuses now is left to Reconcile.
 * A job that has ended stays as it is.
 * @returns the job as it ended.
 * @throws JobMovedError when the job kept changing; ServiceUnavailableError when the table stayed contended.
 */
export async function resolveVideoJob(input: StepInput, context: ResolveContext, decide: Decide): Promise<VideoJob> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const job = await requireVideoJob(context.table, input)
    if (isTerminal(job)) {
      return await cleanUpIfDeleted(job, context)
    }
    const reservation = await getReservation(context.table, job.tenantId, job.jobId)
    if (reservation === undefined) {
      throw new JobRecordMissingError(`no reservation of job ${job.jobId}`)
    }
    try {
      const resolution = await decide(job, reservation)
      const outcome = await resolveReservation(context.table, {
        job,
        reservation,
        resolution,
        nowMilliseconds: context.nowMilliseconds(),
      })
      report(outcome, job, resolution)
      measureEnd(outcome, { job, resolution }, context)
      await orLeaveToReconcile(job, () => deleteResolvedRequest(context, job, reservation.request))
      return await cleanUpIfDeleted(await requireVideoJob(context.table, input), context)
    } catch (error) {
      if (!(error instanceof JobMovedError)) {
        throw error
      }
    }
  }
  throw new JobMovedError(`job ${input.jobId} kept changing`)
}

/** Read after the commit: whoever comes second, this or the deletion, sees the other's mark. */
async function cleanUpIfDeleted(job: VideoJob, context: ResolveContext): Promise<VideoJob> {
  if (job.isDeleted) {
    await orLeaveToReconcile(job, () => cleanUpDeletedJob(context, job))
  }
  return job
}

/** The job has ended: nothing that the bucket refuses may make its step fail. The index still names what is left. */
async function orLeaveToReconcile(job: VideoJob, cleanUp: () => Promise<void>): Promise<void> {
  try {
    await cleanUp()
  } catch (error) {
    logger.warn('clean-up left to reconcile', { ...jobFacts(job), error: error instanceof Error ? error : undefined })
  }
}

function report(outcome: 'resolved' | 'already_resolved' | 'conflict', job: VideoJob, resolution: Resolution): void {
  logger.info('job resolved', { ...jobFacts(job), resolution: resolution.kind, outcome })
  if (outcome === 'conflict') {
    logger.error('the reservation was resolved differently before; the first resolution stands', jobFacts(job))
    count('resolution_conflict')
  }
}

/** Counts an end once: whoever comes second finds it resolved. */
function measureEnd(
  outcome: 'resolved' | 'already_resolved' | 'conflict',
  { job, resolution }: { readonly job: VideoJob; readonly resolution: Resolution },
  context: ResolveContext,
): void {
  if (outcome !== 'resolved') {
    return
  }
  const about = { model: job.model, channel: job.channelId ?? 'none' }
  if (resolution.kind === 'release') {
    measure({ jobs_failed: 1 }, about)
  } else {
    const seconds = Math.max(0, context.nowMilliseconds() / 1000 - job.createdAt)
    measure({ jobs_succeeded: 1, job_seconds: seconds, billed_credits: creditsForGraphs(resolution.actual) }, about)
  }
}
