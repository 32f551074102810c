import { deleteObject, type OpenBucket } from '../bucket/video-bucket.ts'
import type { Table } from '../table/table.ts'
import { CLEANUP_PARTITION, dueSortKey, tableKeys } from '../table/table-keys.ts'
import { getReservation, type Reservation } from './reservation.ts'

type JobKey = { readonly tenantId: string; readonly jobId: string }
type Stores = { readonly table: Table; readonly openBucket: OpenBucket }

/** The function that resolves a reservation deletes its request at once; Reconcile deletes what is left after this. */
const LEFT_AFTER_MILLISECONDS = 60_000

/**
 * The part of a reservation's closing update that changes the due index: the reservation leaves the index, or, while the bucket
 * still has its request, moves to the clean-ups, so that the object is found again whatever happens to this process.
 */
export function leaveDueIndex(
  { request }: Reservation,
  nowMilliseconds: number,
): { readonly set: string; readonly remove: string; readonly values: Readonly<Record<string, string>> } {
  if ('inline' in request) {
    return { set: '', remove: ' REMOVE GSI1PK, GSI1SK', values: {} }
  }
  return {
    set: ', GSI1PK = :cleanup, GSI1SK = :due',
    remove: '',
    values: { ':cleanup': CLEANUP_PARTITION, ':due': dueSortKey(nowMilliseconds + LEFT_AFTER_MILLISECONDS) },
  }
}

/** Deletes the request of a resolved reservation from the bucket, if it is there. May be repeated at any point. */
export async function deleteResolvedRequest(
  { table, openBucket }: Stores,
  { tenantId, jobId }: JobKey,
  request: Reservation['request'],
): Promise<void> {
  if ('inline' in request) {
    return
  }
  await deleteObject(await openBucket(), request.bucketKey)
  await table.updateItem({
    Key: tableKeys.reservation(tenantId, jobId),
    UpdateExpression: 'REMOVE GSI1PK, GSI1SK',
    // An open reservation stays in the index, which leads Reconcile to its job.
    ConditionExpression: 'attribute_exists(PK) AND #state <> :held',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':held': 'held' },
  })
}

/** Does the same for a reservation that the index named, unless the reservation is open. */
export async function cleanUpResolvedRequest(stores: Stores, job: JobKey): Promise<void> {
  const reservation = await getReservation(stores.table, job.tenantId, job.jobId)
  if (reservation !== undefined && reservation.state !== 'held') {
    await deleteResolvedRequest(stores, job, reservation.request)
  }
}
