import * as z from 'zod/mini'
import { type HoldKey, readHoldItem, type StoredHold } from './relay-ledger/hold.ts'
import { change, dueBy } from './table/expressions.ts'
import { type ItemUpdate, queryItems, readBatches, type Table } from './table/table.ts'
import {
  CLEANUP_PARTITION,
  dueSortKey,
  HOLDS_PARTITION,
  type JobKey,
  OPEN_SHARDS,
  tableKeys,
} from './table/table-keys.ts'

const indexedItem = z.object({ PK: z.string(), SK: z.string() })

/**
 * Jobs whose open reservations are due for a look. The index lags behind the table by moments: a look may come late, and whoever counts
 * has to count twice.
 */
export async function* dueReservations(table: Table, nowMilliseconds: number): AsyncGenerator<JobKey> {
  for (let shard = 0; shard < OPEN_SHARDS; shard += 1) {
    for await (const { tenantId, id } of queryDue(table, `OPEN#${shard}`, nowMilliseconds)) {
      yield { tenantId, jobId: id }
    }
  }
}

/** Milliseconds later than any due time. */
const END_OF_TIME = 999_999_999_999_999

/** Every open reservation, due or not. */
export function openReservations(table: Table): AsyncGenerator<JobKey> {
  return dueReservations(table, END_OF_TIME)
}

/** Holds of relayed requests that are due for a look. */
export async function* dueHolds(table: Table, nowMilliseconds: number): AsyncGenerator<HoldKey> {
  for await (const { tenantId, id } of queryDue(table, HOLDS_PARTITION, nowMilliseconds)) {
    yield { tenantId, holdId: id }
  }
}

/** Every hold of relayed requests, due or not, empty or not. */
export function allHolds(table: Table): AsyncGenerator<HoldKey> {
  return dueHolds(table, END_OF_TIME)
}

/** The content of every hold. */
export async function* readHolds(table: Table): AsyncGenerator<StoredHold> {
  const keys = async function* () {
    for await (const { tenantId, holdId } of allHolds(table)) {
      yield tableKeys.relayHold(tenantId, holdId)
    }
  }
  for await (const items of readBatches(table, keys())) {
    yield* items.map(readHoldItem)
  }
}

/** Postpones the next look at a hold. */
export async function postponeHold(
  table: Table,
  { tenantId, holdId }: HoldKey,
  untilMilliseconds: number,
): Promise<void> {
  const later = { set: { GSI1SK: dueSortKey(untilMilliseconds) } }
  await table.updateItem(change(tableKeys.relayHold(tenantId, holdId), later, ['attribute_exists(PK)']))
}

/**
 * What may have left objects in the bucket: a deleted job, a create that stored its request but made no job, or a job that ended
 * and no longer needs its request.
 */
export type CleanUp = JobKey & { readonly of: 'deleted job' | 'request' | 'resolved request' }

/** By the kind of item in the index. */
const CLEAN_UP_OF: Readonly<Record<string, CleanUp['of']>> = { BODY: 'request', RESERVATION: 'resolved request' }

/** Clean-ups that are due. */
export async function* pendingCleanUps(table: Table, nowMilliseconds: number): AsyncGenerator<CleanUp> {
  for await (const { kind, tenantId, id } of queryDue(table, CLEANUP_PARTITION, nowMilliseconds)) {
    yield { tenantId, jobId: id, of: CLEAN_UP_OF[kind] ?? 'deleted job' }
  }
}

type DueItem = { readonly kind: string; readonly tenantId: string; readonly id: string }

async function* queryDue(table: Table, partition: string, nowMilliseconds: number): AsyncGenerator<DueItem> {
  for await (const item of queryItems(table, dueBy(partition, nowMilliseconds))) {
    const { PK, SK } = indexedItem.parse(item)
    const end = SK.indexOf('#')
    yield { kind: SK.slice(0, end), tenantId: PK.slice('T#'.length), id: SK.slice(end + 1) }
  }
}

/** How a look is postponed. `restarts` counts executions started in place of broken ones; the count stays when left out. */
type Postponement = { readonly untilMilliseconds: number; readonly restarts?: number }

/**
 * Postpones the next look at an open reservation.
 * @returns false when the reservation is not open any more.
 */
export async function postponeReservation(table: Table, job: JobKey, postponement: Postponement): Promise<boolean> {
  return (await table.updateItem(postponedReservation(job, postponement))).isWritten
}

/** The update that postpones, for a transaction; it is refused when the reservation is not open. */
export function postponedReservation(
  { tenantId, jobId }: JobKey,
  { untilMilliseconds, restarts }: Postponement,
): ItemUpdate {
  const isHeld = { condition: '#state = :held', values: { ':held': 'held' } }
  const later = { set: { GSI1SK: dueSortKey(untilMilliseconds), restarts } }
  return change(tableKeys.reservation(tenantId, jobId), later, [isHeld])
}
