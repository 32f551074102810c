import { deleteObject, type OpenBucket } from '../bucket/bucket.ts'
import { allOf, change } from '../table/expressions.ts'
import type { Table, TableWrite } from '../table/table.ts'
import { CLEANUP_PARTITION, dueSortKey, type JobKey, tableKeys } from '../table/table-keys.ts'

/** By then the create has ended: no function of the API lives that long. */
const ABANDONED_AFTER_MILLISECONDS = 5 * 60 * 1000

const exists = 'attribute_exists(PK)'
const isNotDropped = 'attribute_not_exists(dropped)'

/**
 * Announces that a request is about to be stored in the bucket before money is reserved for it. Whatever happens to the create,
 * this item leads to the object: a reservation deletes the item in its transaction, all others delete the object first.
 */
export async function announceRequest(
  table: Table,
  { tenantId, jobId }: JobKey,
  { bucketKey, nowMilliseconds }: { bucketKey: string; nowMilliseconds: number },
): Promise<void> {
  const GSI1SK = dueSortKey(nowMilliseconds + ABANDONED_AFTER_MILLISECONDS)
  const announced = { set: { requestKey: bucketKey, GSI1PK: CLEANUP_PARTITION, GSI1SK } }
  await table.updateItem(change(tableKeys.announcedRequest(tenantId, jobId), announced))
}

/** The write by which a reservation takes over an announced request; refused once the request was dropped. */
export function takeAnnouncedRequest({ tenantId, jobId }: JobKey): TableWrite {
  return { Delete: { Key: tableKeys.announcedRequest(tenantId, jobId), ...allOf([exists, isNotDropped]) } }
}

/**
 * Deletes a request that no reservation took over, and leaves one that was taken over. The mark comes first: from then on no
 * reservation can take over the request, so that no job loses its request, however slow a create is. May be repeated at any point.
 */
export async function dropAnnouncedRequest(
  { table, openBucket }: { table: Table; openBucket: OpenBucket },
  { tenantId, jobId }: JobKey,
): Promise<void> {
  const key = tableKeys.announcedRequest(tenantId, jobId)
  const marked = await table.updateItem(change(key, { set: { dropped: true } }, [exists]))
  if (!marked.isWritten) {
    return
  }
  await deleteObject(await openBucket(), String(marked.item.requestKey))
  // A transaction of one: deleting alone would add a request to the table's module, and to every cold start, for a rare case.
  await table.transact({ announcement: { Delete: { Key: key } } })
}
