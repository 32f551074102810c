import { randomUUID } from 'node:crypto'
import { JOB_RECORD_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { ConditionsNotMetError, type Item, type ItemUpdate, type Table, type TableWrite } from '../table/table.ts'
import { CLEANUP_PARTITION, dueSortKey, type TableKey, tableKeys } from '../table/table-keys.ts'
import { getVideoJob, readVideoJobItem } from './job-reader.ts'

/**
 * Marks an open job as cancelled by its client. Its reservation is untouched: the execution resolves it, as for a deletion. The job
 * enters the clean-up index, because a video that is being stored must go.
 * @param cancellation names this request.
 * @returns the job as it is now. With another `cancellation` an earlier request cancelled it, without `cancelledAt` it had ended
 * before. Undefined when there is none (unknown, deleted, or too old).
 */
export async function markCancelled(
  table: Table,
  { tenantId, jobId }: Pick<VideoJob, 'tenantId' | 'jobId'>,
  nowMilliseconds: number,
  cancellation: string = randomUUID(),
): Promise<VideoJob | undefined> {
  const nowSeconds = Math.trunc(nowMilliseconds / 1000)
  const isOpen = '#status IN (:queued, :processing)'
  const isUnmarked = 'attribute_not_exists(deleted) AND attribute_not_exists(cancelledAt)'
  const oldest = nowSeconds - JOB_RECORD_SECONDS
  const updated = await table.updateItem({
    Key: tableKeys.job(tenantId, jobId),
    UpdateExpression: 'SET cancelledAt = :now, cancellation = :cancellation, GSI1PK = :cleanup, GSI1SK = :due',
    ConditionExpression: `${isOpen} AND ${isUnmarked} AND createdAt > :oldest`,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':now': nowSeconds,
      ':cancellation': cancellation,
      ':cleanup': CLEANUP_PARTITION,
      ':due': dueSortKey(nowMilliseconds),
      ':queued': 'queued',
      ':processing': 'processing',
      ':oldest': oldest,
    },
  })
  // A write whose response was lost finds its own mark.
  const job = updated.isWritten ? readVideoJobItem(updated.item) : await getVideoJob(table, tenantId, jobId)
  return job === undefined || job.isDeleted || job.createdAt <= oldest ? undefined : job
}

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
