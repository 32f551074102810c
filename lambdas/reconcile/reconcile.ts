import { cleanUpDeletedJob } from '#adapters/jobs/clean-up-deleted-job.ts'
import type { StepContext } from '#adapters/jobs/step-context.ts'
import { dueReservations, type JobKey, openReservations, pendingCleanUps } from '#adapters/stores/due-index.ts'
import { getVideoJob } from '#adapters/stores/job-reader.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { isTerminal } from '#core/jobs/video-job.ts'
import { reconcileJob } from './reconcile-job.ts'
import { recountChannels } from './recount-channels.ts'

/** Jobs looked at side by side: bounded, so that a backlog does not exhaust the table. */
const PARALLEL_JOBS = 8

/** One run stops taking up new jobs after this long; the next run goes on. */
const RUN_MILLISECONDS_MAX = 45_000

/**
 * The one-minute guarantee behind every execution: open jobs without one, reservations past their time, files of
 * deleted jobs, and the open counts of channels. Everything it does is conditional, so runs may overlap.
 * @param options.all looks at every open job now, as the local host does when it starts.
 */
export async function reconcile(context: StepContext, { all }: { all: boolean }): Promise<void> {
  const started = context.nowMilliseconds()
  const hasTime = () => context.nowMilliseconds() - started < RUN_MILLISECONDS_MAX
  const open = all ? openReservations(context.table) : dueReservations(context.table, started)
  await forEachJob(open, hasTime, (job) => reconcileJob(job, context))
  await forEachJob(pendingCleanUps(context.table, started), hasTime, (job) => cleanUp(job, context))
  if (all || isRecountMinute(started)) {
    await recountOrLog(context)
  }
}

async function recountOrLog(context: StepContext): Promise<void> {
  try {
    await recountChannels(context)
  } catch (error) {
    logger.error('channels not recounted', { error: error instanceof Error ? error : undefined })
  }
}

/** Counting reads every open job, so it is done in one run of ten. */
function isRecountMinute(nowMilliseconds: number): boolean {
  return Math.trunc(nowMilliseconds / 60_000) % 10 === 0
}

async function cleanUp({ tenantId, jobId }: JobKey, context: StepContext): Promise<void> {
  const job = await getVideoJob(context.table, tenantId, jobId)
  if (job?.isDeleted && isTerminal(job)) {
    await cleanUpDeletedJob(context, job)
  }
}

/** One job's fault never stops the others; it is logged and met again by the next run. */
async function forEachJob(
  jobs: AsyncGenerator<JobKey>,
  hasTime: () => boolean,
  visit: (job: JobKey) => Promise<void>,
): Promise<void> {
  const worker = async () => {
    for (let next = await jobs.next(); !next.done && hasTime(); next = await jobs.next()) {
      try {
        await visit(next.value)
      } catch (error) {
        logger.error('reconcile failed for a job', { ...next.value, error: error instanceof Error ? error : undefined })
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_JOBS }, worker))
}
