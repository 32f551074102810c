import { describeVideoExecution, startVideoExecution } from '#adapters/executions/video-executions.ts'
import { endFailedJob } from '#adapters/jobs/end-failed-job.ts'
import type { StepContext } from '#adapters/jobs/step-context.ts'
import { type JobKey, postponeReservation } from '#adapters/stores/due-index.ts'
import { getVideoJob } from '#adapters/stores/job-reader.ts'
import { getReservation } from '#adapters/stores/reservation.ts'
import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'

/** A job with a live execution is looked at again after this long: the execution itself minds its deadlines. */
const NEXT_LOOK_MILLISECONDS = 10 * 60 * 1000

/** Executions that are started in place of broken ones before the job is given up. */
const RESTARTS_MAX = 3

/** A reservation older than queue, generation, storing and every margin can take: its job is ended whatever its execution says. */
const OVERDUE_SECONDS = 14 * 60 * 60

/**
 * Looks after one open reservation: starts an execution that is missing, replaces one that broke,
 * and ends a job that is overdue or whose executions keep breaking.
 */
export async function reconcileJob(job: JobKey, context: StepContext): Promise<void> {
  const reservation = await getReservation(context.table, job.tenantId, job.jobId)
  const record = await getVideoJob(context.table, job.tenantId, job.jobId)
  if (reservation?.state !== 'held' || record === undefined) {
    return
  }
  const now = context.nowMilliseconds()
  const execution = await describeVideoExecution(job.jobId, reservation.restarts)
  const isOverdue = now / 1000 >= record.createdAt + OVERDUE_SECONDS
  const isSpent = (execution === 'broken' || execution === 'ended') && reservation.restarts >= RESTARTS_MAX
  if (isOverdue || isSpent) {
    logger.error('job ended by reconcile', { jobId: job.jobId, tenantId: job.tenantId, execution })
    await endFailedJob(job, context, isOverdue ? 'GenerationTimedOutError' : undefined)
    return
  }
  // An execution that ended and left its reservation open did not do its work, whatever it says of itself.
  const restarts = execution === 'broken' || execution === 'ended' ? reservation.restarts + 1 : reservation.restarts
  if (execution !== 'running') {
    logger.warn('execution started by reconcile', { jobId: job.jobId, tenantId: job.tenantId, execution, restarts })
    count('execution_restarted', { reason: execution })
    await startVideoExecution(job, restarts)
  }
  await postponeReservation(context.table, job, { untilMilliseconds: now + NEXT_LOOK_MILLISECONDS, restarts })
}
