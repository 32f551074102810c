import * as z from 'zod/mini'
import { type Budget, periodStart } from '#core/budgets.ts'
import { jobIdMilliseconds } from '#core/ids.ts'
import { JOB_RECORD_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { formatCredits, type Microcredits, microcredits } from '#core/money.ts'
import {
  addUsageSums,
  counterIdOf,
  counterOfSettlement,
  NO_USAGE,
  sumsOfSettlement,
  type UsageSums,
} from '#core/pricing/usage.ts'
import { streamSettledRows } from '#lambdas/admin/settled-rows.ts'
import { type KeyBudget, readKeyBudget } from '#store/budgets.ts'
import type { Reservation } from '#store/job-ledger/reservation.ts'
import { readVideoJobItem } from '#store/jobs/job-reader.ts'
import { type StoredHold, unnamedRest } from '#store/relay-ledger/hold.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import type { Tenant } from '#store/tenants/tenants.ts'
import { spentInPeriod, streamUsageCounters } from '#store/usage.ts'
import type { LedgerRow } from './read-ledger.ts'

/**
 * How much earlier than its reservation a resolution may appear: the times come from the clocks of two functions. Each clock may be five
 * minutes off; the pipeline is tested with the same (test/faults/clock-skew.test.ts).
 */
const CLOCK_SKEW_MILLISECONDS = 10 * 60 * 1000

/** A row has a billed amount if and only if it is a settlement, and no negative amount unless it is an adjustment. */
export function checkRow(name: string, { kind, amount, actual }: LedgerRow): string[] {
  return [
    ...((actual !== null) !== (kind === 'settle')
      ? [`${name} has a ${kind} row ${actual === null ? 'without' : 'with'} an actual amount`]
      : []),
    ...((amount < 0n && kind !== 'adjust') || (actual ?? 0n) < 0n ? [`${name} has a negative amount`] : []),
  ]
}

/** Times in milliseconds. */
export function checkTimes(name: string, reservedAt: number, resolvedAt: number): string[] {
  return resolvedAt < reservedAt - CLOCK_SKEW_MILLISECONDS ? [`${name} was resolved before it was reserved`] : []
}

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

/** Checks that the count and the amount of a hold match the requests that it names. */
export function checkHolds(holds: readonly StoredHold[]): string[] {
  return holds.flatMap((hold) => {
    const { requests, amount } = unnamedRest(hold)
    const isPossible = requests > 0 ? amount >= 0n : requests === 0 && amount === 0n
    return isPossible ? [] : [`hold ${hold.holdId} does not add up with the requests that it names`]
  })
}

/**
 * A relayed request is open or has one resolution, never both, and a resolution has a billed amount if and only if it is a settlement.
 * The reserved amount is in one place at a time, the hold or the row, so only the sums can be compared.
 */
export function checkRequests(holds: readonly StoredHold[], rows: readonly LedgerRow[]): string[] {
  const open = holds.flatMap((hold) => hold.open)
  const openIds = new Set<string | null>(open.map(({ id }) => id))
  const ofRequests = rows.filter(({ isOfRequest }) => isOfRequest)
  const reservedAt = new Map(
    ofRequests.flatMap(({ kind, job, at }) => (kind === 'reserve' ? [[job, at] as const] : [])),
  )
  return [
    ...open.flatMap(({ id, amount }) => (amount < 0n ? [`request ${id} has a negative amount`] : [])),
    ...ofRequests
      .filter(({ kind }) => kind !== 'reserve')
      .flatMap((row) => checkResolution(row, { isOpen: openIds.has(row.job), reservedAt: reservedAt.get(row.job) })),
  ]
}

function checkResolution(
  row: LedgerRow,
  { isOpen, reservedAt }: { isOpen: boolean; reservedAt: number | undefined },
): string[] {
  const name = `request ${row.job ?? '(none)'}`
  return [
    ...(isOpen ? [`${name} has a resolution row in the ledger and its reservation is open`] : []),
    ...checkRow(name, row),
    ...checkTimes(name, reservedAt ?? Number.POSITIVE_INFINITY, row.at),
  ]
}

/**
 * Each usage counter is the sum of the settlements that carry the mark `counted`, in every number. Counters are read before and after
 * the rows, and one that moved meanwhile is left out. Memory grows with the number of counters, not of rows.
 */
export async function checkCounters(table: Table, tenantId: string): Promise<string[]> {
  const before = new Map<string, UsageSums>()
  for await (const counter of streamUsageCounters(table, tenantId)) {
    before.set(counterIdOf(counter), counter)
  }
  const expected = new Map<string, UsageSums>()
  for await (const { settlement } of streamSettledRows(table, tenantId)) {
    const id = counterOfSettlement(settlement)
    expected.set(id, addUsageSums(expected.get(id) ?? NO_USAGE, sumsOfSettlement(settlement)))
  }
  const broken: string[] = []
  for await (const counter of streamUsageCounters(table, tenantId)) {
    const id = counterIdOf(counter)
    if (isStill(before.get(id), counter)) {
      broken.push(...compare(id, counter, expected.get(id) ?? NO_USAGE))
    }
    expected.delete(id)
  }
  return [...broken, ...[...expected].flatMap(([id, sums]) => compare(id, NO_USAGE, sums))]
}

/** Every settlement that counts raises the number of requests. */
function isStill(before: UsageSums | undefined, after: UsageSums): boolean {
  return before?.requests === after.requests
}

const NUMBERS = [
  'requests',
  'inputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'outputTokens',
  'videoMilliseconds',
  'images',
] as const satisfies readonly (keyof UsageSums)[]

function compare(id: string, counter: UsageSums, rows: UsageSums): string[] {
  const differences = NUMBERS.flatMap((name) => {
    const difference = counter[name] - rows[name]
    return difference === 0 ? [] : [`${name} by ${difference}`]
  })
  const cost = counter.cost - rows.cost
  const all = cost === 0n ? differences : [...differences, `cost by ${formatCredits(cost as Microcredits)}`]
  return all.length === 0 ? [] : [`the usage counter ${id} differs from its settlements: ${all.join(', ')}`]
}

type KeyBudgets = {
  /** Open reservations of jobs. */
  readonly reservations: readonly Pick<Reservation, 'amount' | 'budget'>[]
  readonly holds: readonly Pick<StoredHold, 'budgets'>[]
  /** The keys of the tenant that name a budget, by the id of the budget. By the first of them the budget can be set. */
  readonly named: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * The sums in a tenant's budget, which conditions use, are those of its amounts, and it has spent what the usage counters of its period
 * say.
 */
export async function checkTenantBudget(
  table: Table,
  { id, budget }: Pick<Tenant, 'id' | 'budget'>,
): Promise<string[]> {
  if (budget === null) {
    return []
  }
  const counted = await spentInPeriod(table, id, { period: budget.period })
  return [...checkSums('its budget', budget), ...equal('its budget has spent', budget.spent, COUNTERS, counted)]
}

/** The same for the budgets of its keys, each of which also holds what open jobs and requests hold in it. */
export async function checkKeyBudgets(
  table: Table,
  tenantId: string,
  { reservations, holds, named }: KeyBudgets,
): Promise<string[]> {
  const held = new Map([...named.keys()].map((id) => [id, 0n]))
  const add = (id: string, amount: bigint) => held.set(id, (held.get(id) ?? 0n) + amount)
  for (const { budget, amount } of reservations) {
    if (budget !== undefined) {
      add(budget.id, amount)
    }
  }
  for (const [id, amount] of holds.flatMap(({ budgets }) => Object.entries(budgets))) {
    add(id, amount)
  }
  const broken: string[] = []
  for (const [id, sum] of held) {
    const item = await table.readItem(tableKeys.keyBudget(id))
    const keyIds = named.get(id)
    const [first = id] = keyIds ?? []
    const name = first === id ? `budget ${id}` : `budget ${id} (of key ${first})`
    if (item === undefined) {
      broken.push(`${name} is missing`)
      continue
    }
    const budget = readKeyBudget(item)
    broken.push(...checkSums(name, budget), ...equal(`${name} holds`, budget.held, 'open reservations in it', sum))
    if (keyIds !== undefined && isWholly(budget)) {
      const counted = await spentInPeriod(table, tenantId, { period: budget.period, keyIds })
      broken.push(...equal(`${name} has spent`, budget.spent, COUNTERS, counted))
    }
  }
  return broken
}

const COUNTERS = 'the sum of its usage counters'

/** Longer than any job or request is open. */
const OPEN_MILLISECONDS_MAX = 2 * 24 * 60 * 60 * 1000

/** Whether the period is free of requests that were opened before the budget existed, or before a key left it. */
function isWholly({ period, changedAt }: KeyBudget): boolean {
  return changedAt === undefined || periodStart(period) > changedAt + OPEN_MILLISECONDS_MAX
}

function checkSums(name: string, { amount, spent, held, left, free }: Budget): string[] {
  return [
    ...equal(`${name} has left`, left, 'amount - spent - held', amount - spent - held),
    ...equal(`${name} has free`, free, 'amount - held', amount - held),
  ]
}

function equal(leftName: string, left: bigint, rightName: string, right: bigint): string[] {
  const show = (amount: bigint) => formatCredits(amount as Microcredits)
  return left === right ? [] : [`${leftName} ${show(left)} and ${rightName} is ${show(right)}`]
}
