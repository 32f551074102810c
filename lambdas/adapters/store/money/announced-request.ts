import { deleteObject, type OpenBucket } from '../bucket/video-bucket.ts'
import { conditionalUpdate } from '../table/conditional-update.ts'
import type { Table } from '../table/table.ts'
import { CLEANUP_PARTITION, dueSortKey, tableKeys } from '../table/table-keys.ts'
import { type TransactionItem, transact } from '../table/transaction.ts'

type JobKey = { readonly tenantId: string; readonly jobId: string }

/** A create has ended long before: no function of the API lives that long. */
const ABANDONED_AFTER_MILLISECONDS = 5 * 60 * 1000

const exists = 'attribute_exists(PK)'
const isNotDropped = 'attribute_not_exists(dropped)'

/**
 * Says that a request is about to lie in the bucket for which no money is reserved yet. Whatever happens to the create, the
 * object is found again by this row: the reservation deletes it in its transaction, everybody else deletes the object first.
 */
export async function announceRequest(
  table: Table,
  { tenantId, jobId }: JobKey,
  { bucketKey, nowMilliseconds }: { bucketKey: string; nowMilliseconds: number },
): Promise<void> {
  await conditionalUpdate(table, {
    Key: tableKeys.announcedRequest(tenantId, jobId),
    UpdateExpression: 'SET requestKey = :key, GSI1PK = :cleanup, GSI1SK = :due',
    ExpressionAttributeValues: {
      ':key': bucketKey,
      ':cleanup': CLEANUP_PARTITION,
      ':due': dueSortKey(nowMilliseconds + ABANDONED_AFTER_MILLISECONDS),
    },
  })
}

/** The part of a reservation that makes an announced request its own; refused once the request was dropped. */
export function takeAnnouncedRequest(table: Table, { tenantId, jobId }: JobKey): TransactionItem {
  return {
    Delete: {
      TableName: table.name,
      Key: tableKeys.announcedRequest(tenantId, jobId),
      ConditionExpression: [exists, isNotDropped].join(' AND '),
    },
  }
}

/**
 * Removes a request that no reservation has taken, and does nothing to one that was taken. The mark comes first: from then
 * on no reservation can take the request, so that no job is without its own, whoever is slow. May be repeated at any point.
 */
export async function dropAnnouncedRequest(
  { table, openBucket }: { table: Table; openBucket: OpenBucket },
  { tenantId, jobId }: JobKey,
): Promise<void> {
  const key = tableKeys.announcedRequest(tenantId, jobId)
  const marked = await conditionalUpdate(table, {
    Key: key,
    UpdateExpression: 'SET dropped = :true',
    ConditionExpression: exists,
    ExpressionAttributeValues: { ':true': true },
  })
  if (marked === undefined) {
    return
  }
  await deleteObject(await openBucket(), String(marked.requestKey))
  // A transaction of one: a command more would weigh on every cold start of the function, for what hardly ever happens.
  await transact(table, [{ Delete: { TableName: table.name, Key: key } }])
}
