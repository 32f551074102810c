import { randomUUID } from 'node:crypto'
import { JOB_RECORD_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Item } from '../table/item-codec.ts'
import type { ItemUpdate, Table, TableWrite } from '../table/table.ts'
import { CLEANUP_PARTITION, dueSortKey, type TableKey, tableKeys } from '../table/table-keys.ts'
import { readVideoJobItem } from './video-job-item.ts'

type JobKey = Pick<VideoJob, 'tenantId' | 'jobId'>

/**
 * Makes a job invisible, in any state. Its reservation is untouched: the execution resolves it. The job enters the clean-up index,
 * so that its video is deleted even if this process dies now.
 * @param audit the entry of the audit log, written in the same transaction; left out for the client's own deletion.
 * @returns the job with the mark, or undefined when there is none to delete (unknown, deleted before, or too old).
 */
export async function markDeleted(
  table: Table,
  job: JobKey,
  nowMilliseconds: number,
  audit?: TableWrite,
): Promise<VideoJob | undefined> {
  const exists = 'attribute_exists(PK)'
  const isNotDeleted = 'attribute_not_exists(deleted)'
  const isNotTooOld = 'createdAt > :oldest'
  const mark = randomUUID()
  const key = tableKeys.job(job.tenantId, job.jobId)
  const update = {
    Key: key,
    UpdateExpression: 'SET deleted = :true, deletionMark = :mark, GSI1PK = :cleanup, GSI1SK = :now',
    ConditionExpression: [exists, isNotDeleted, isNotTooOld].join(' AND '),
    ExpressionAttributeValues: {
      ':true': true,
      ':mark': mark,
      ':cleanup': CLEANUP_PARTITION,
      ':now': dueSortKey(nowMilliseconds),
      ':oldest': Math.trunc(nowMilliseconds / 1000) - JOB_RECORD_SECONDS,
    },
  }
  if (audit !== undefined) {
    return await markWithEntry(table, update, audit)
  }
  const updated = await table.updateItem(update)
  const item = updated.isWritten ? updated.item : await readOwnMark(table, key, mark)
  return item === undefined ? undefined : readVideoJobItem(item)
}

async function markWithEntry(table: Table, update: ItemUpdate, audit: TableWrite): Promise<VideoJob | undefined> {
  try {
    await table.transact({ job: { Update: update }, audit })
  } catch (error) {
    if (error instanceof ConditionsNotMetError && error.failed.has('job')) {
      return undefined
    }
    throw error
  }
  const item = await table.readItem(update.Key)
  return item === undefined ? undefined : readVideoJobItem(item)
}

/** A write whose response was lost is repeated and finds its own mark: that is success, not a second deletion. */
async function readOwnMark(table: Table, key: TableKey, mark: string): Promise<Item | undefined> {
  const item = await table.readItem(key)
  return item?.deletionMark === mark ? item : undefined
}

/**
 * Records that nothing of an ended, unwanted job is left in the bucket that should not be. A cancelled job that was deleted since it was
 * read stays in the index: its texts are still there.
 */
export async function recordCleanedUp(table: Table, job: JobKey & Pick<VideoJob, 'isDeleted'>): Promise<void> {
  await table.updateItem({
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: 'REMOVE GSI1PK, GSI1SK',
    ConditionExpression: job.isDeleted
      ? 'attribute_exists(deleted)'
      : 'attribute_exists(cancelledAt) AND attribute_not_exists(deleted)',
  })
}
