import * as z from 'zod/mini'
import { jobIdMilliseconds } from '#core/ids.ts'
import { JOB_RECORD_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { formatCredits, type Microcredits, microcredits } from '#core/money.ts'
import type { Reservation } from '#store/job-ledger/reservation.ts'
import { readVideoJobItem } from '#store/jobs/job-reader.ts'
import type { LedgerRow } from './read-ledger.ts'
import { checkRow, checkTimes } from './verify-rows.ts'

/** A job's record with its bill. */
export type BilledJob = VideoJob & {
  /** Undefined before the settlement. */
  readonly billed: Microcredits | undefined
}

const billedItem = z.object({
  billed: z.optional(z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))),
})

/** Reads a job's record. @throws ZodError for a malformed item. */
export function readBilledJob(item: unknown): BilledJob {
  return { ...readVideoJobItem(item), billed: billedItem.parse(item).billed }
}

const RESOLVED_AS = { queued: 'held', processing: 'held', succeeded: 'settled', failed: 'released' } as const

/** A job that its client cancelled while the upstream worked on it is billed without a video. */
function mayBe(job: BilledJob, state: Reservation['state']): boolean {
  return state === RESOLVED_AS[job.status] || (isBilledCancel(job) && state === 'settled')
}

function isBilledCancel({ status, cancelledAt }: BilledJob): boolean {
  return status === 'failed' && cancelledAt !== undefined
}
const ROW_OF_STATE = { settled: 'settle', released: 'release' } as const

/**
 * A job has ended if and only if its reservation is resolved, and the ledger agrees. Every copy of the reserved amount is equal, and so is
 * every copy of the billed amount. The billed amount may exceed the reserved one.
 */
export function checkJob(job: BilledJob, reservation: Reservation | undefined, rows: readonly LedgerRow[]): string[] {
  const name = `job ${job.jobId}`
  if (reservation === undefined) {
    return [`${name} has no reservation`]
  }
  const resolutions = rows.filter((row) => row.kind !== 'reserve').map((row) => row.kind)
  const expectedRows = reservation.state === 'held' ? [] : [ROW_OF_STATE[reservation.state]]
  return [
    ...(mayBe(job, reservation.state) ? [] : [`${name} is ${job.status} and its reservation is ${reservation.state}`]),
    ...(rows.some(isKind('reserve')) ? [] : [`${name} has no reserve row in the ledger`]),
    ...(resolutions.join() === expectedRows.join()
      ? []
      : [`${name} has the resolution rows [${resolutions}] and its reservation is ${reservation.state}`]),
    ...unequal(`${name} has unequal amounts`, [
      ['estimate', job.estimate],
      ['reservation', reservation.amount],
      ...amountsOf(rows),
    ]),
    ...checkBill(job, reservation, rows),
    ...checkRows(name, rows),
  ]
}

function checkBill(job: BilledJob, { state, actual }: Reservation, rows: readonly LedgerRow[]): string[] {
  const name = `job ${job.jobId}`
  if (state !== 'settled') {
    // A released reservation has an actual amount of zero, an open one has no actual amount.
    const billed = [actual, job.billed].find((amount) => amount !== undefined && amount !== 0n)
    return billed === undefined
      ? []
      : [`${name} has an actual amount of ${formatCredits(billed)} and its reservation is ${state}`]
  }
  return unequal(`${name} has unequal bills`, [
    ...rows.filter(isKind('settle')).map((row) => ['settle row', row.actual ?? undefined] as const),
    ['reservation', actual],
    ['record', job.billed],
  ])
}

/** Ledger rows outlive the job's record, which the table deletes some time after thirty days, and never before the job has ended. */
export function checkRowsAlone(jobId: string, rows: readonly LedgerRow[]): string[] {
  const isReserved = rows.some(isKind('reserve'))
  const isResolved = rows.some(({ kind }) => kind === 'settle' || kind === 'release')
  const isYoung = Date.now() < jobIdMilliseconds(jobId) + JOB_RECORD_SECONDS * 1000
  return [
    ...(isYoung ? [`job ${jobId} has rows in the ledger and no record`] : []),
    ...(isReserved ? [] : [`job ${jobId} has a resolution row in the ledger and no reserve row`]),
    ...(isResolved ? [] : [`job ${jobId} has a reserve row in the ledger, no resolution row and no record`]),
    ...unequal(`job ${jobId} has unequal amounts`, amountsOf(rows)),
    ...checkRows(`job ${jobId}`, rows),
  ]
}

/** Checks the rows of one job without its record. */
function checkRows(name: string, rows: readonly LedgerRow[]): string[] {
  const reservedAt = rows.find(isKind('reserve'))?.at
  const resolvedAt = rows.filter(({ kind }) => kind !== 'reserve').map(({ at }) => at)
  return [
    ...rows.flatMap((row) => checkRow(name, row)),
    ...(reservedAt === undefined ? [] : resolvedAt.flatMap((at) => checkTimes(name, reservedAt, at))),
  ]
}

/** In the order of their creation: the reserve row first. */
function amountsOf(rows: readonly LedgerRow[]): Named[] {
  return rows
    .toSorted((left, right) => Number(right.kind === 'reserve') - Number(left.kind === 'reserve'))
    .map(({ kind, amount }) => [`${kind} row`, amount] as const)
}

type Named = readonly [name: string, amount: Microcredits | undefined]

function unequal(sentence: string, amounts: readonly Named[]): string[] {
  const texts = amounts.map(([name, amount]) => `${name} ${amount === undefined ? 'none' : formatCredits(amount)}`)
  return new Set(amounts.map(([, amount]) => amount)).size <= 1 ? [] : [`${sentence}: ${texts.join(', ')}`]
}

function isKind(kind: LedgerRow['kind']): (row: LedgerRow) => boolean {
  return (row) => row.kind === kind
}
