import { movingTime } from '#core/budgets.ts'
import { JOB_RECORD_SECONDS, TRANSITIONS, type VideoJob, visibleError } from '#core/jobs/video-job.ts'
import type { Microcredits } from '#core/money.ts'
import { type CountedUsage, countedUsage, isCounted, nonZeroCounts } from '#core/pricing/usage.ts'
import type { PriceLine } from '#core/pricing/video-cost.ts'
import {
  guessBudgets,
  type KnownBudgets,
  moveKeyBudget,
  moveTenantBudget,
  transactWithBudgets,
} from '../budget-moves.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { change, isStill } from '../table/expressions.ts'
import { ConditionsNotMetError, type Item, type NamedWrites, type Table, type TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { countUsage } from '../usage.ts'
import { getReservation, leaveDueIndex, type Reservation } from './reservation.ts'

/** Seconds between the last moment at which a record is visible and its expiry in the table. */
const RECORD_SLACK_SECONDS = 24 * 60 * 60

/** When the table may delete the record; never set while a reservation is open. */
function ttlSeconds({ job, nowMilliseconds }: JobResolution): number {
  return Math.max(job.createdAt + JOB_RECORD_SECONDS, Math.trunc(nowMilliseconds / 1000)) + RECORD_SLACK_SECONDS
}

/** Closes a reservation that is still open with the amount that was read. */
export function closeReservation(context: JobResolution): TableWrite {
  const { job, reservation, resolution, nowMilliseconds } = context
  const isHeld = { condition: '#state = :held', values: { ':held': 'held' } }
  const { set, remove } = leaveDueIndex(reservation, nowMilliseconds)
  const closed = {
    state: resolution.kind === 'settle' ? 'settled' : 'released',
    actual: resolution.kind === 'settle' ? resolution.actual : 0,
    resolvedAt: nowMilliseconds,
    ttl: ttlSeconds(context),
    ...set,
  }
  const key = tableKeys.reservation(job.tenantId, job.jobId)
  return { Update: change(key, { set: closed, remove }, [isHeld, isStill('amount', reservation.amount)]) }
}

/** Ends the record of a job that is still open and on the channel that it was read with. */
export function endJob(context: JobResolution): TableWrite {
  const { job, resolution } = context
  const isCancelled = job.cancelledAt !== undefined
  const { from, to } = TRANSITIONS[resolution.kind === 'release' ? 'released' : isCancelled ? 'billed' : 'settled']
  const statuses = Object.fromEntries(from.map((status, index) => [`:from${index}`, status]))
  const mayEnd = { condition: `#status IN (${Object.keys(statuses).join(', ')})`, values: statuses }
  const slotIsAsRead = isStill('channelId', job.channelId)
  // A cancel between the read and this write decides the status, so the job is read again.
  const markIsAsRead = `attribute_${isCancelled ? '' : 'not_'}exists(cancelledAt)`
  const endedAt = Math.trunc(context.nowMilliseconds / 1000)
  const ended = { status: to, ttl: ttlSeconds(context), endedAt, ...outcomeOf(context) }
  const key = tableKeys.job(job.tenantId, job.jobId)
  return { Update: change(key, { set: ended }, [mayEnd, slotIsAsRead, markIsAsRead]) }
}

function outcomeOf({ job, resolution }: JobResolution) {
  if (resolution.kind === 'release') {
    return { error: resolution.error, failureCause: resolution.cause }
  }
  const { actual: billed, durationSeconds = null } = resolution
  return job.cancelledAt === undefined ? { durationSeconds, billed } : { error: visibleError(job), billed }
}

/** A claimed job holds one slot of its channel until this transaction. */
export function freeSlot(job: VideoJob): TableWrite | undefined {
  return job.channelId === undefined
    ? undefined
    : { Update: change(tableKeys.channel(job.channelId), { add: { open: -1, version: 1 } }) }
}

/** How a job ends: billed, or given back. */
export type Resolution =
  | {
      readonly kind: 'settle'
      readonly actual: Microcredits
      readonly durationSeconds: string | undefined
      /** The usage that `actual` is the price of. */
      readonly usage?: CountedUsage
      /** `actual` in its parts; left out where the estimate is billed. */
      readonly line?: PriceLine | undefined
      /** Whether `actual` is the estimate, because no usage was reported. */
      readonly estimated?: boolean
    }
  | {
      readonly kind: 'release'
      readonly error: string
      /** For operators; when left out, a cause that was recorded before stays. */
      readonly cause?: string
      /** The entry of the audit log, if an operator ends the job. */
      readonly audit?: TableWrite
    }

/** A resolution of a job as it was read, at a time. */
export type JobResolution = {
  readonly job: VideoJob
  readonly reservation: Reservation
  readonly resolution: Resolution
  readonly nowMilliseconds: number
}

/** The write that counts a settlement; none for a release or a bill of zero. */
export function countSettlement(context: JobResolution): NamedWrites {
  const { job, reservation, resolution, nowMilliseconds: at } = context
  if (resolution.kind !== 'settle') {
    return {}
  }
  const { keyId, operation } = reservation
  const { usage = countedUsage({}), actual } = resolution
  return countUsage([{ tenantId: job.tenantId, at, keyId, operation, model: job.model, usage, actual }])
}

/** The second of the two ledger rows of a job, one key for settlement and release. */
export function putResolutionRow(context: JobResolution): TableWrite {
  const { job, reservation, resolution, nowMilliseconds } = context
  return {
    Put: {
      ConditionExpression: 'attribute_not_exists(PK)',
      Item: {
        ...tableKeys.ledgerResolution(job.tenantId, job.jobId),
        kind: resolution.kind,
        job: job.jobId,
        amount: reservation.amount,
        at: nowMilliseconds,
        model: job.model,
        operation: reservation.operation,
        keyId: reservation.keyId,
        ...(resolution.kind === 'settle' ? settledAttributes(context, resolution) : {}),
      },
    },
  }
}

function settledAttributes(
  context: JobResolution,
  { actual, usage, line, estimated }: Extract<Resolution, { kind: 'settle' }>,
): Item {
  const { job, reservation } = context
  return {
    actual,
    channel: job.channelId,
    usage: usage && nonZeroCounts(usage),
    billing: reservation.snapshot.billing,
    lines: line && [line],
    estimated: estimated === true ? true : undefined,
    counted: isCounted({ actual }) ? true : undefined,
  }
}

/** The result of resolving a job's reservation. A `conflict` kept the earlier, different resolution. */
type ResolutionOutcome = 'resolved' | 'already_resolved' | 'conflict'

/**
 * Ends a job and its reservation in one transaction: status, ledger row, balance, budgets, usage counter and channel slot together.
 * Three independent guards make it happen once: the reservation's state, the one key of the ledger row, the job's status.
 * @throws StoreRefusal `changed_meanwhile` when the job is no longer what `job` says and its reservation is still open.
 */
export async function resolveReservation(table: Table, context: JobResolution): Promise<ResolutionOutcome> {
  const { reservation, nowMilliseconds } = context
  const { closed, billed } = giveBack(context).move
  try {
    const key = closed === 0n && billed === 0n ? undefined : reservation.budget
    await transactWithBudgets(table, {
      known: guessBudgets({ key, tenantKind: reservation.tenantBudgetKind }, nowMilliseconds),
      nowMilliseconds,
      compose: (known) => {
        const at = movingTime([known.key?.period, known.tenant], nowMilliseconds)
        return composeResolution({ ...context, nowMilliseconds: at }, known)
      },
      isFinal: (name) => name === 'reservation' || name === 'row',
      needsKeyBudget: false,
    })
    return 'resolved'
  } catch (error) {
    if (error instanceof ConditionsNotMetError) {
      return await explainRefusal(table, context, error)
    }
    throw error
  }
}

function composeResolution(context: JobResolution, known: KnownBudgets): NamedWrites {
  return {
    reservation: closeReservation(context),
    row: putResolutionRow(context),
    ...countSettlement(context),
    keyBudget: known.key && moveKeyBudget(known.key.id, { ...giveBack(context), known: known.key.period }),
    balance: moveFunds(context, known),
    job: endJob(context),
    slot: freeSlot(context.job),
    audit: context.resolution.kind === 'release' ? context.resolution.audit : undefined,
  }
}

/** The move of a budget by a resolution. */
function giveBack({ reservation, resolution, nowMilliseconds }: JobResolution) {
  const billed = resolution.kind === 'settle' ? resolution.actual : 0n
  return { move: { locked: 0n, closed: reservation.amount, billed }, nowMilliseconds }
}

async function explainRefusal(
  table: Table,
  { job, resolution }: JobResolution,
  error: Error,
): Promise<ResolutionOutcome> {
  const stored = await getReservation(table, job.tenantId, job.jobId)
  if (stored === undefined || stored.state === 'held') {
    throw new StoreRefusal('changed_meanwhile', `job ${job.jobId} changed while it was being resolved`, {
      cause: error,
    })
  }
  const isSame =
    resolution.kind === 'settle'
      ? stored.state === 'settled' && stored.actual === resolution.actual
      : stored.state === 'released'
  return isSame ? 'already_resolved' : 'conflict'
}

/**
 * Gives back the difference between estimate and actual; it may be negative (docs/decisions/0029). The job leaves the count of open jobs.
 */
function moveFunds(context: JobResolution, { tenant }: KnownBudgets): TableWrite {
  const { job, reservation, resolution } = context
  const actual = resolution.kind === 'settle' ? resolution.actual : 0n
  const budget = moveTenantBudget({ ...giveBack(context), known: tenant })
  return {
    Update: {
      Key: tableKeys.balance(job.tenantId),
      UpdateExpression: `SET held = held - :amount, spent = spent + :actual, available = available + :rest${budget.set} ADD openJobs :minusOne`,
      ConditionExpression: ['held >= :amount', budget.condition].join(' AND '),
      ExpressionAttributeValues: {
        ...budget.values,
        ':minusOne': -1,
        ':amount': reservation.amount,
        ':actual': actual,
        ':rest': reservation.amount - actual,
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  }
}
