import * as z from 'zod/mini'
import { type HoldKey, readHoldItem, type StoredHold } from './relay-ledger/hold.ts'
import { DUE_INDEX, type ItemUpdate, queryItems, type Table } from './table/table.ts'
import { CLEANUP_PARTITION, dueSortKey, HOLDS_PARTITION, OPEN_SHARDS, tableKeys } from './table/table-keys.ts'

/** Identifies a job and its reservation. */
export type JobKey = { readonly tenantId: string; readonly jobId: string }

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

/** The limit of BatchGetItem. */
const BATCH_ITEMS = 100

/** The content of every hold. */
export async function* readHolds(table: Table): AsyncGenerator<StoredHold> {
  let batch: HoldKey[] = []
  for await (const key of allHolds(table)) {
    batch.push(key)
    if (batch.length === BATCH_ITEMS) {
      yield* await readBatch(table, batch)
      batch = []
    }
  }
  yield* await readBatch(table, batch)
}

async function readBatch(table: Table, keys: readonly HoldKey[]): Promise<StoredHold[]> {
  const tableKeysOf = keys.map(({ tenantId, holdId }) => tableKeys.relayHold(tenantId, holdId))
  const items = tableKeysOf.length === 0 ? [] : await table.readItems(tableKeysOf)
  return items.flatMap((item) => (item === undefined ? [] : [readHoldItem(item)]))
}

/** Postpones the next look at a hold. */
export async function postponeHold(
  table: Table,
  { tenantId, holdId }: HoldKey,
  untilMilliseconds: number,
): Promise<void> {
  await table.updateItem({
    Key: tableKeys.relayHold(tenantId, holdId),
    UpdateExpression: 'SET GSI1SK = :until',
    ConditionExpression: 'attribute_exists(PK)',
    ExpressionAttributeValues: { ':until': dueSortKey(untilMilliseconds) },
  })
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
  const due = queryItems(table, {
    IndexName: DUE_INDEX,
    KeyConditionExpression: 'GSI1PK = :partition AND GSI1SK <= :now',
    ExpressionAttributeValues: { ':partition': partition, ':now': dueSortKey(nowMilliseconds) },
  })
  for await (const item of due) {
    const { PK, SK } = indexedItem.parse(item)
    const end = SK.indexOf('#')
    yield { kind: SK.slice(0, end), tenantId: PK.slice('T#'.length), id: SK.slice(end + 1) }
  }
}

/** Postpones the next look at an open reservation. `restarts` counts executions started in place of broken ones. */
export async function postponeReservation(table: Table, job: JobKey, postponement: Postponement): Promise<void> {
  await table.updateItem(postponedReservation(job, postponement))
}

/**
 * Postpones the next look at an open reservation and leaves everything else as it is.
 * @returns false when the reservation is not open any more.
 */
export async function postponeLook(
  table: Table,
  { tenantId, jobId }: JobKey,
  untilMilliseconds: number,
): Promise<boolean> {
  const { isWritten } = await table.updateItem({
    Key: tableKeys.reservation(tenantId, jobId),
    UpdateExpression: 'SET GSI1SK = :until',
    ConditionExpression: '#state = :held',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':until': dueSortKey(untilMilliseconds), ':held': 'held' },
  })
  return isWritten
}

type Postponement = { readonly untilMilliseconds: number; readonly restarts: number }

/** The update that postpones, for a transaction; it is refused when the reservation is not open. */
export function postponedReservation(
  { tenantId, jobId }: JobKey,
  { untilMilliseconds, restarts }: Postponement,
): ItemUpdate {
  return {
    Key: tableKeys.reservation(tenantId, jobId),
    UpdateExpression: 'SET GSI1SK = :until, restarts = :restarts',
    ConditionExpression: '#state = :held',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':until': dueSortKey(untilMilliseconds), ':restarts': restarts, ':held': 'held' },
  }
}
