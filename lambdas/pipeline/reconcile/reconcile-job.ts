import type { VideoJob } from '#core/jobs/video-job.ts'
import { describeVideoExecution, startVideoExecution } from '#platform/aws/video-executions.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count, measure } from '#platform/telemetry/measures.ts'
import { postponeHold, postponeReservation } from '#store/due-index.ts'
import { getReservation, type Reservation } from '#store/job-ledger/reservation.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { type HoldKey, readHoldItem } from '#store/relay-ledger/hold.ts'
import { RELAY_LIFETIME_MILLISECONDS } from '#store/relay-ledger/relay-reservation.ts'
import { releaseHold } from '#store/relay-ledger/release-hold.ts'
import type { JobKey } from '#store/table/table-keys.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { endFailedJob } from '../resolve-video-job.ts'
import type { StepContext } from '../step-context.ts'

/**
 * The ages of the oldest open reservations of a run. Runs visit jobs every ten minutes at least and requests after 16 minutes,
 * so the maximum over a quarter of an hour is the age of the oldest one. Ids of jobs hold their ages, and holds name their oldest
 * requests: nothing is read for them.
 */
export class ReservationAges {
  readonly #nowMilliseconds: number
  #oldestJob: number | undefined
  #oldestRequest: number | undefined

  constructor(nowMilliseconds: number) {
    this.#nowMilliseconds = nowMilliseconds
  }

  /** Yields the items unchanged. */
  async *watch(items: AsyncGenerator<JobKey>): AsyncGenerator<JobKey> {
    for await (const item of items) {
      this.#oldestJob = older(this.#oldestJob, millisecondsOfId(item.jobId))
      yield item
    }
  }

  /** Takes in the oldest request of a hold. */
  addRequest(reservedAtMilliseconds: number | undefined): void {
    this.#oldestRequest = older(this.#oldestRequest, reservedAtMilliseconds)
  }

  /** Measures nothing of a kind that the run did not visit. */
  measure(): void {
    measure({
      oldest_open_job_seconds: this.#ageOf(this.#oldestJob),
      oldest_open_request_seconds: this.#ageOf(this.#oldestRequest),
    })
  }

  #ageOf(sinceMilliseconds: number | undefined): number | undefined {
    return sinceMilliseconds === undefined ? undefined : Math.max(0, this.#nowMilliseconds - sinceMilliseconds) / 1000
  }
}

function older(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

/** When a job was created: the first 48 bits of a UUID of version 7 are milliseconds (RFC 9562, 5.7). */
export function millisecondsOfId(jobId: string): number {
  return Number.parseInt(jobId.replace('-', '').slice(0, 12), 16)
}

/**
 * The wait until the next check of a job whose execution runs is the job's age, within these bounds: most jobs end after one
 * check, and a break that no event reported is found before the job has waited for as long again.
 */
const NEXT_LOOK_SECONDS = { min: 60, max: 600 }

/** How many executions replace broken ones before Reconcile ends the job. */
const RESTARTS_MAX = 3

/** Longer than queue, generation, storing and every margin together. A job of this age is ended, whatever its execution's status. */
export const OVERDUE_SECONDS = 14 * 60 * 60

/**
 * A job that is younger and known to run is passed without a write, and so is due in the next run too, which reads its key again: a thousand keys cost
 * less than ten writes. Most jobs end before. Below the five minutes for which `admin health` lets a job be due.
 */
const UNWRITTEN_SECONDS = 300

/**
 * Reconciles the job of one reservation: starts a missing execution, replaces a broken one, and ends a job that is overdue or
 * whose executions keep breaking. A last execution then sends the callback.
 */
export async function reconcileJob(job: JobKey, context: StepContext): Promise<void> {
  const reservation = await getReservation(context.table, job.tenantId, job.jobId)
  const record = await getVideoJob(context.table, job.tenantId, job.jobId)
  if (reservation === undefined || record === undefined) {
    return
  }
  if (reservation.state !== 'held') {
    return await notifyIfOwed(record, reservation)
  }
  const now = context.nowMilliseconds()
  const execution = await describeVideoExecution(job.jobId, reservation.restarts)
  const isOverdue = now / 1000 >= record.createdAt + OVERDUE_SECONDS
  const isSpent = (execution === 'broken' || execution === 'ended') && reservation.restarts >= RESTARTS_MAX
  if (isOverdue || isSpent) {
    logger.error('job ended by reconcile', { ...jobFacts(record), execution })
    await endFailedJob(job, context, isOverdue ? 'GenerationTimedOutError' : undefined)
    return await notifyByNewExecution(record, reservation.restarts + 1)
  }
  // An execution that succeeded and left its reservation open did not do its work either.
  const restarts = execution === 'broken' || execution === 'ended' ? reservation.restarts + 1 : reservation.restarts
  if (execution !== 'running') {
    logger.warn('execution started by reconcile', { ...jobFacts(record), execution, restarts })
    count('execution_restarted', { reason: execution })
    await startVideoExecution(job, restarts)
  }
  const untilMilliseconds = nextLook(now, record.createdAt * 1000)
  await postponeReservation(context.table, job, { untilMilliseconds, restarts })
}

/** @returns when the job is looked at next. Milliseconds, like both parameters. */
function nextLook(now: number, createdAt: number): number {
  const age = (now - createdAt) / 1000
  return now + Math.min(NEXT_LOOK_SECONDS.max, Math.max(NEXT_LOOK_SECONDS.min, age)) * 1000
}

/**
 * Passes a job whose execution is known to run: postpones its next look with one write and no read, if it is older than most jobs become.
 * @returns false when the job needs a whole look: it is overdue, or its reservation is not open.
 */
export async function passRunningJob(job: JobKey, { table, nowMilliseconds }: StepContext): Promise<boolean> {
  const now = nowMilliseconds()
  const createdAt = millisecondsOfId(job.jobId)
  if (now < createdAt + UNWRITTEN_SECONDS * 1000) {
    return true
  }
  const isOverdue = now >= createdAt + OVERDUE_SECONDS * 1000
  return !isOverdue && (await postponeReservation(table, job, { untilMilliseconds: nextLook(now, createdAt) }))
}

/** Sends the callback of a job that had ended when its execution broke. */
async function notifyIfOwed(record: VideoJob, { restarts }: Reservation): Promise<void> {
  if (owesCallback(record) && (await describeVideoExecution(record.jobId, restarts)) === 'broken') {
    await notifyByNewExecution(record, restarts + 1)
  }
}

/** Submit sends the execution of an ended job straight to Notify. */
async function notifyByNewExecution(record: VideoJob, restarts: number): Promise<void> {
  if (owesCallback(record)) {
    await startVideoExecution(record, restarts)
  }
}

function owesCallback({ callbackUrl, callbackState, isDeleted }: VideoJob): boolean {
  return callbackUrl !== undefined && callbackState === undefined && !isDeleted
}

/**
 * Releases the hold of a process for relayed requests, once no reservation has renewed it for as long as any function runs, so that
 * none of its requests can be settled any more. A hold that was renewed is looked at again when its latest reservation is as old.
 * @param livingProcessId the only process that lives, on a local host. Its clock may jump, so that its open requests are never released
 * here: it settles them itself. Holds of all other processes are released at once.
 * @returns when the oldest request that the hold names was reserved, in milliseconds; undefined if nothing is open.
 */
export async function releaseLapsedHold(
  { table, nowMilliseconds }: Pick<StepContext, 'table' | 'nowMilliseconds'>,
  { tenantId, holdId }: HoldKey,
  livingProcessId?: string,
): Promise<number | undefined> {
  const item = await table.readItem(tableKeys.relayHold(tenantId, holdId))
  if (item === undefined) {
    return undefined
  }
  const hold = readHoldItem(item)
  const { renewedAt, requests } = hold
  const now = nowMilliseconds()
  const lapsesAt = renewedAt + RELAY_LIFETIME_MILLISECONDS
  const oldestAt = requests === 0 ? undefined : (hold.open[0]?.at ?? renewedAt)
  const isOwn = livingProcessId !== undefined && holdId.endsWith(livingProcessId)
  if (isOwn && requests > 0) {
    return oldestAt
  }
  if ((isOwn || livingProcessId === undefined) && now < lapsesAt) {
    await postponeHold(table, hold, lapsesAt)
  } else if ((await releaseHold(table, hold, now)) && requests > 0) {
    logger.warn('reservations of a process given back by reconcile', { tenantId, holdId, requests })
    for (let request = 0; request < requests; request += 1) {
      count('reservation_expired')
    }
  }
  return oldestAt
}
