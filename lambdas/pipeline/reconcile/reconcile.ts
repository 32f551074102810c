import { isTerminal, isUnwanted } from '#core/jobs/video-job.ts'
import type { PublishToOperators } from '#lambdas/pipeline/reconcile/operator-topic.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import {
  allHolds,
  type CleanUp,
  dueHolds,
  dueReservations,
  type JobKey,
  openReservations,
  pendingCleanUps,
} from '#store/due-index.ts'
import { dropAnnouncedRequest } from '#store/job-ledger/announced-request.ts'
import { cleanUpResolvedRequest } from '#store/job-ledger/reservation.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { HoldKey } from '#store/relay-ledger/hold.ts'
import { cleanUpDeletedJob } from '../clean-up-deleted-job.ts'
import type { StepContext } from '../step-context.ts'
import { deliverAlerts } from './deliver-alerts.ts'
import { findAlerts } from './find-alerts.ts'
import { passRunningJob, reconcileJob } from './reconcile-job.ts'
import { recountChannels } from './recount-channels.ts'
import { releaseLapsedHold } from './release-lapsed-hold.ts'
import { ReservationAges } from './reservation-ages.ts'
import { RunningJobs } from './running-jobs.ts'
import { summarize } from './summarize.ts'

/** Items in parallel: bounded, so that a backlog does not exhaust the table, and enough to use the processor while each waits for it. */
const PARALLEL_LOOKS = 32

/** A run takes no new items after this time; the next run continues. */
const RUN_MILLISECONDS_MAX = 45_000

/** The recount ends before the function's timeout, which would count as a failed run. */
const RECOUNT_MILLISECONDS_MAX = 50_000

/**
 * One run of the guarantee behind every execution. Finds open jobs without an execution, overdue reservations of jobs, holds of
 * relayed requests that no process renews, objects of deleted jobs, large requests without a job or of ended jobs, budgets and
 * balances that call for an alert, and wrong open counts of channels.
 * Every write is conditional, so runs may overlap.
 * @param options.all checks every open job now, as the local host does when it starts.
 * @param options.livingProcessId on a local host, its own `PROCESS_ID`: what other processes hold for relayed requests is released
 * at once, and its own open requests never.
 */
export async function reconcile(context: ReconcileContext, { all, livingProcessId }: ReconcileOptions): Promise<void> {
  const started = context.nowMilliseconds()
  const hasTime = () => context.nowMilliseconds() - started < RUN_MILLISECONDS_MAX
  const ages = new ReservationAges(started)
  const open = ages.watch(all ? openReservations(context.table) : dueReservations(context.table, started))
  const holds = all ? allHolds(context.table) : dueHolds(context.table, started)
  const running = new RunningJobs(hasTime)
  // Executions of the local host end with its process: a list is for hosts that outlive their starts.
  const look = async (job: JobKey) => {
    if (all || !(await running.has(job.jobId)) || !(await passRunningJob(job, context))) {
      await reconcileJob(job, context)
    }
  }
  // At the same time, so that a backlog of the one does not leave the other unseen.
  await Promise.all([
    forEachItem(open, hasTime, look),
    forEachItem(holds, hasTime, async (hold) => {
      ages.addRequest(await releaseLapsedHold(context, hold, livingProcessId))
    }),
  ])
  ages.measure()
  await forEachItem(pendingCleanUps(context.table, started), hasTime, (item) => cleanUp(item, context))
  const near = await findAlerts(context, hasTime)
  await deliverAlerts(context, hasTime)
  if (all || isRecountMinute(started)) {
    const hasTimeToCount = () => all || context.nowMilliseconds() - started < RECOUNT_MILLISECONDS_MAX
    await recountOrLog(context, hasTimeToCount)
  }
  await summarize(context, { near, hasTime })
}

/** Operators get alerts by log alone where `publishToOperators` is undefined. */
type ReconcileContext = StepContext & { readonly publishToOperators?: PublishToOperators | undefined }

type ReconcileOptions = { readonly all: boolean; readonly livingProcessId?: string | undefined }

async function recountOrLog(context: StepContext, hasTime: () => boolean): Promise<void> {
  try {
    await recountChannels(context, hasTime)
  } catch (error) {
    logger.error('channels not recounted', { error: error instanceof Error ? error : undefined })
  }
}

/** Counting reads every open job, so it is done in one run of ten. */
function isRecountMinute(nowMilliseconds: number): boolean {
  return Math.trunc(nowMilliseconds / 60_000) % 10 === 0
}

async function cleanUp({ tenantId, jobId, of }: CleanUp, context: StepContext): Promise<void> {
  if (of === 'request') {
    logger.warn('request without a job dropped by reconcile', { tenantId, jobId })
    return await dropAnnouncedRequest(context, { tenantId, jobId })
  }
  if (of === 'resolved request') {
    return await cleanUpResolvedRequest(context, { tenantId, jobId })
  }
  const job = await getVideoJob(context.table, tenantId, jobId)
  if (job !== undefined && isUnwanted(job) && isTerminal(job)) {
    await cleanUpDeletedJob(context, job)
  }
}

/** The failure of one item never stops the others. It is logged, and the next run visits the item again. */
async function forEachItem<Item extends JobKey | HoldKey>(
  items: AsyncGenerator<Item>,
  hasTime: () => boolean,
  visit: (item: Item) => Promise<void>,
): Promise<void> {
  const worker = async () => {
    for (let next = await items.next(); !next.done && hasTime(); next = await items.next()) {
      try {
        await visit(next.value)
      } catch (error) {
        logger.error('reconcile failed', { ...next.value, error: error instanceof Error ? error : undefined })
        count('reconcile_failed')
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_LOOKS }, worker))
}
