import { isTerminal, isUnwanted, type StepInput, type VideoJob } from '#core/jobs/video-job.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count, creditsForGraphs, measure } from '#platform/telemetry/measures.ts'
import { deleteResolvedRequest, getReservation, type Reservation } from '#store/job-ledger/reservation.ts'
import { type Resolution, resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { countFailedJob } from '#store/jobs/failed-jobs.ts'
import { isRefusal, StoreRefusal } from '#store/store-refusal.ts'
import { cleanUpDeletedJob } from './clean-up-deleted-job.ts'
import { JobRecordMissingError, requireVideoJob } from './job-record.ts'
import type { StepContext } from './step-context.ts'

/** How often a job may change between the read and the write before the step throws and is retried. */
const TRIES_MAX = 5

/** The part of the context that ends a job. */
export type ResolveContext = Pick<StepContext, 'table' | 'openBucket' | 'nowMilliseconds'>

type Decide = (job: VideoJob, reservation: Reservation) => Promise<Resolution> | Resolution

/**
 * Ends a job exactly once, as `decide` resolves its current state, and deletes the objects that are no longer needed: its
 * request in the bucket, and everything of a deleted job. Deletions that fail are left to Reconcile. A job that has already
 * ended is not changed.
 * @returns the job as it ended.
 * @throws StoreRefusal `changed_meanwhile` when the job kept changing; ServiceUnavailableError when the table stayed contended.
 */
export async function resolveVideoJob(input: StepInput, context: ResolveContext, decide: Decide): Promise<VideoJob> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const job = await requireVideoJob(context.table, input)
    if (isTerminal(job)) {
      return await cleanUpIfUnwanted(job, context)
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
      await countIfFailed(outcome, { job, resolution }, context)
      await orLeaveToReconcile(job, () => deleteResolvedRequest(context, job, reservation.request))
      return await cleanUpIfUnwanted(await requireVideoJob(context.table, input), context)
    } catch (error) {
      if (!isRefusal(error, 'changed_meanwhile')) {
        throw error
      }
    }
  }
  throw new StoreRefusal('changed_meanwhile', `job ${input.jobId} kept changing`)
}

/** The job was read after the commit, so the later of the commit and the mark sees the other. */
async function cleanUpIfUnwanted(job: VideoJob, context: ResolveContext): Promise<VideoJob> {
  if (isUnwanted(job)) {
    await orLeaveToReconcile(job, () => cleanUpDeletedJob(context, job))
  }
  return job
}

/** The job has ended, so a failed deletion must not fail the step. The index still has what is left. */
async function orLeaveToReconcile(job: VideoJob, cleanUp: () => Promise<void>): Promise<void> {
  try {
    await cleanUp()
  } catch (error) {
    logger.warn('clean-up left to reconcile', { ...jobFacts(job), error: error instanceof Error ? error : undefined })
  }
}

function report(outcome: Outcome, job: VideoJob, resolution: Resolution): void {
  logger.info('job resolved', { ...jobFacts(job), resolution: resolution.kind, outcome })
  if (outcome === 'conflict') {
    logger.error('the reservation was resolved differently before; the first resolution stands', jobFacts(job))
    count('resolution_conflict')
  }
}

type Outcome = 'resolved' | 'already_resolved' | 'conflict'
type End = { readonly job: VideoJob; readonly resolution: Resolution }

/** Counts an end once: a second resolution finds the first. */
function measureEnd(outcome: Outcome, { job, resolution }: End, context: ResolveContext): void {
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

/** The console lists tenants whose jobs fail. What a client or an operator ended has not failed. */
async function countIfFailed(outcome: Outcome, { job, resolution }: End, context: ResolveContext): Promise<void> {
  const hasFailed = resolution.kind === 'release' && resolution.audit === undefined && !isUnwanted(job)
  if (outcome !== 'resolved' || !hasFailed) {
    return
  }
  try {
    await countFailedJob(context.table, job, context.nowMilliseconds())
  } catch (error) {
    logger.warn('failed job not counted', { ...jobFacts(job), error: error instanceof Error ? error : undefined })
  }
}
