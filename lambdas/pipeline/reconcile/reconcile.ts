import type { NearBudget } from '#core/admin/summary.ts'
import { isTerminal, isUnwanted } from '#core/jobs/video-job.ts'
import type { PublishToOperators } from '#lambdas/pipeline/reconcile/alerts.ts'
import { listRunningJobs } from '#platform/aws/video-executions.ts'
import { asError, logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import {
  allHolds,
  type CleanUp,
  dueHolds,
  dueReservations,
  openReservations,
  pendingCleanUps,
} from '#store/due-index.ts'
import { dropAnnouncedRequest } from '#store/job-ledger/announced-request.ts'
import { cleanUpResolvedRequest } from '#store/job-ledger/reservation.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { HoldKey } from '#store/relay-ledger/hold.ts'
import { buildSummary, keepNearBudgets, readSummary, writeSummary } from '#store/summary.ts'
import type { JobKey } from '#store/table/table-keys.ts'
import { cleanUpDeletedJob } from '../delete-video-job.ts'
import type { StepContext } from '../step-context.ts'
import { deliverAlerts, findAlerts } from './alerts.ts'
import { passRunningJob, ReservationAges, reconcileJob, releaseLapsedHold } from './reconcile-job.ts'
import { recountChannels } from './recount-channels.ts'

/**
 * Jobs that a run asks about one by one before it lists all executions that run: fewer are cheaper that way, and exact to the moment.
 * Step Functions allows a new account 900 such questions a minute.
 */
const ASKED_ONE_BY_ONE = 100

/** Which jobs of one run of Reconcile have a running execution, by one list instead of a question for each job. */
export class RunningJobs {
  readonly #hasTime: () => boolean
  #asked = 0
  #list: Promise<ReadonlySet<string> | undefined> | undefined

  constructor(hasTime: () => boolean) {
    this.#hasTime = hasTime
  }

  /** False for the first jobs of a run, for a job that is not in the list, and for all jobs when there is no list: each needs a question of its own. */
  async has(jobId: string): Promise<boolean> {
    this.#asked += 1
    if (this.#asked <= ASKED_ONE_BY_ONE) {
      return false
    }
    this.#list ??= this.#read()
    return (await this.#list)?.has(jobId) ?? false
  }

  async #read(): Promise<ReadonlySet<string> | undefined> {
    try {
      return await listRunningJobs(this.#hasTime)
    } catch (error) {
      logger.warn('running executions not listed', { error: asError(error) })
      return undefined
    }
  }
}

type Context = Pick<StepContext, 'table' | 'nowMilliseconds'>

type SummarizeOptions = {
  /** Budgets of keys that are nearly spent, as this run found them; undefined if it did not examine all. */
  readonly near: readonly NearBudget[] | undefined
  readonly hasTime: () => boolean
}

/**
 * Writes what the console shows of all tenants, where the stage has a console: the budgets that need a person, and the summary if pages
 * read it (`CONSOLE_SUMMARY` is `stored`, and not `live`). It comes last and never fails a run: the pages are then a minute older.
 */
export async function summarize(context: Context, { near, hasTime }: SummarizeOptions): Promise<void> {
  const mode = process.env.CONSOLE_SUMMARY
  if (mode === undefined) {
    return
  }
  if (!hasTime()) {
    report('the run has no time left')
    return
  }
  try {
    if (near !== undefined) {
      await keepNearBudgets(context.table, near)
    }
    if (mode === 'stored') {
      await storeSummary(context, hasTime)
    }
  } catch (error) {
    report(error)
  }
}

async function storeSummary({ table, nowMilliseconds }: Context, hasTime: () => boolean): Promise<void> {
  const previous = await readSummary(table)
  const next = await buildSummary(table, { previous, nowMilliseconds: nowMilliseconds(), hasTime })
  await writeSummary(table, next, previous)
}

function report(cause: unknown): void {
  const facts = cause instanceof Error ? { error: cause } : { reason: String(cause) }
  logger.error('summary not written', facts)
  count('summary_not_written')
}

/** Items in parallel: bounded, so that a backlog does not exhaust the table, and enough to use the processor while each waits for it. */
const PARALLEL_LOOKS = 32

/** A run takes no new items after this time; the next run continues. */
export const RUN_MILLISECONDS_MAX = 45_000

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
    logger.error('channels not recounted', { error: asError(error) })
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
        logger.error('reconcile failed', { ...next.value, error: asError(error) })
        count('reconcile_failed')
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_LOOKS }, worker))
}
