import { JOB_RECORD_SECONDS, TRANSITIONS, type VideoJob } from '#core/jobs/video-job.ts'
import type { Microcredits } from '#core/money/money.ts'
import type { CountedUsage } from '#core/quota/counted-usage.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { getReservation, type Reservation } from './reservation.ts'
import { leaveDueIndex } from './resolved-request.ts'

/** Seconds between the last moment at which a record is visible and its expiry in the table. */
const RECORD_SLACK_SECONDS = 24 * 60 * 60

/** How a job ends: billed, or given back. */
export type Resolution =
  | {
      readonly kind: 'settle'
      readonly actual: Microcredits
      readonly durationSeconds: string | undefined
      /** The usage that `actual` is the price of. */
      readonly usage?: CountedUsage
    }
  /** `cause` is for operators; when left out, a cause that was recorded before stays. */
  | { readonly kind: 'release'; readonly error: string; readonly cause?: string }

/** The job changed since it was read; read it again and decide again. */
export class JobMovedError extends Error {
  override readonly name = 'JobMovedError'
}

/** The result of resolving a job's reservation. A `conflict` kept the earlier, different resolution. */
export type ResolutionOutcome = 'resolved' | 'already_resolved' | 'conflict'

/**
 * Ends a job and its reservation in one transaction: status, ledger row, balance and channel slot together.
 * Three independent guards make it happen once: the reservation's state, the one key of the ledger row, the job's status.
 * @throws JobMovedError when the job is no longer what `job` says and its reservation is still open.
 */
export async function resolveReservation(
  table: Table,
  {
    job,
    reservation,
    resolution,
    nowMilliseconds,
  }: {
    job: VideoJob
    reservation: Reservation
    resolution: Resolution
    nowMilliseconds: number
  },
): Promise<ResolutionOutcome> {
  const context: Context = { job, reservation, resolution, nowMilliseconds }
  try {
    await table.transact({
      reservation: closeReservation(context),
      row: putLedgerRow(context),
      balance: moveFunds(context),
      job: endJob(context),
      slot: freeSlot(context),
    })
    return 'resolved'
  } catch (error) {
    if (error instanceof ConditionsNotMetError) {
      return await explainRefusal(table, context, error)
    }
    throw error
  }
}

type Context = {
  readonly job: VideoJob
  readonly reservation: Reservation
  readonly resolution: Resolution
  readonly nowMilliseconds: number
}

async function explainRefusal(table: Table, { job, resolution }: Context, error: Error): Promise<ResolutionOutcome> {
  const stored = await getReservation(table, job.tenantId, job.jobId)
  if (stored === undefined || stored.state === 'held') {
    throw new JobMovedError(`job ${job.jobId} changed while it was being resolved`, { cause: error })
  }
  const isSame =
    resolution.kind === 'settle'
      ? stored.state === 'settled' && stored.actual === resolution.actual
      : stored.state === 'released'
  return isSame ? 'already_resolved' : 'conflict'
}

/** When the table may delete the record; never set while a reservation is open. */
function ttlSeconds({ job, nowMilliseconds }: Context): number {
  return Math.max(job.createdAt + JOB_RECORD_SECONDS, Math.trunc(nowMilliseconds / 1000)) + RECORD_SLACK_SECONDS
}

function closeReservation(context: Context): TableWrite {
  const { job, reservation, resolution } = context
  const isStillHeld = '#state = :held AND amount = :amount'
  const due = leaveDueIndex(reservation, context.nowMilliseconds)
  return {
    Update: {
      Key: tableKeys.reservation(job.tenantId, job.jobId),
      UpdateExpression: `SET #state = :state, actual = :actual, resolvedAt = :now, #ttl = :ttl${due.set}${due.remove}`,
      ConditionExpression: isStillHeld,
      ExpressionAttributeNames: { '#state': 'state', '#ttl': 'ttl' },
      ExpressionAttributeValues: {
        ...due.values,
        ':state': resolution.kind === 'settle' ? 'settled' : 'released',
        ':actual': resolution.kind === 'settle' ? resolution.actual : 0,
        ':now': context.nowMilliseconds,
        ':ttl': ttlSeconds(context),
        ':held': 'held',
        ':amount': reservation.amount,
      },
    },
  }
}

function putLedgerRow({ job, reservation, resolution, nowMilliseconds }: Context): TableWrite {
  return {
    Put: {
      ConditionExpression: 'attribute_not_exists(PK)',
      Item: {
        ...tableKeys.ledgerResolution(job.tenantId, job.jobId),
        kind: resolution.kind,
        job: job.jobId,
        amount: reservation.amount,
        actual: resolution.kind === 'settle' ? resolution.actual : undefined,
        at: nowMilliseconds,
      },
    },
  }
}

/**
 * Gives back the difference between estimate and actual; it may be negative (docs/decisions/0026).
 * A job that its tenant's count of open jobs includes leaves that count.
 */
function moveFunds(context: Context): TableWrite {
  const { job, reservation, resolution } = context
  const actual = resolution.kind === 'settle' ? resolution.actual : 0n
  const leave = reservation.counted ? ' ADD openJobs :minusOne' : ''
  return {
    Update: {
      Key: tableKeys.balance(job.tenantId),
      UpdateExpression: `SET held = held - :amount, spent = spent + :actual, available = available + :rest${leave}`,
      ConditionExpression: 'held >= :amount',
      ExpressionAttributeValues: {
        ...(reservation.counted ? { ':minusOne': -1 } : {}),
        ':amount': reservation.amount,
        ':actual': actual,
        ':rest': reservation.amount - actual,
      },
    },
  }
}

function endJob(context: Context): TableWrite {
  const { job, resolution } = context
  const { from, to } = TRANSITIONS[resolution.kind === 'settle' ? 'settled' : 'released']
  const statuses = Object.fromEntries(from.map((status, index) => [`:from${index}`, status]))
  const mayEnd = `#status IN (${Object.keys(statuses).join(', ')})`
  const slotIsAsRead = job.channelId === undefined ? 'attribute_not_exists(channelId)' : 'channelId = :channel'
  const outcome =
    resolution.kind === 'settle'
      ? {
          set: 'durationSeconds = :duration, billed = :billed',
          values: { ':duration': resolution.durationSeconds ?? null, ':billed': resolution.actual },
        }
      : resolution.cause === undefined
        ? { set: '#error = :error', values: { ':error': resolution.error } }
        : {
            set: '#error = :error, failureCause = :cause',
            values: { ':error': resolution.error, ':cause': resolution.cause },
          }
  return {
    Update: {
      Key: tableKeys.job(job.tenantId, job.jobId),
      UpdateExpression: `SET #status = :status, #ttl = :ttl, ${outcome.set}`,
      ConditionExpression: [mayEnd, slotIsAsRead].join(' AND '),
      ExpressionAttributeNames: {
        '#status': 'status',
        '#ttl': 'ttl',
        ...(resolution.kind === 'release' ? { '#error': 'error' } : {}),
      },
      ExpressionAttributeValues: {
        ...statuses,
        ...outcome.values,
        ':status': to,
        ':ttl': ttlSeconds(context),
        ...(job.channelId === undefined ? {} : { ':channel': job.channelId }),
      },
    },
  }
}

/** A claimed job holds one slot of its channel until this transaction. */
function freeSlot({ job }: Context): TableWrite | undefined {
  if (job.channelId === undefined) {
    return undefined
  }
  return {
    Update: {
      Key: tableKeys.channel(job.channelId),
      UpdateExpression: 'ADD #open :minusOne, version :one',
      ExpressionAttributeNames: { '#open': 'open' },
      ExpressionAttributeValues: { ':minusOne': -1, ':one': 1 },
    },
  }
}
