import { randomUUID } from 'node:crypto'
import { JOB_RECORD_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { type Clause, change } from '../table/expressions.ts'
import { type Item, type ItemUpdate, type Table, type TableWrite, tryTransact } from '../table/table.ts'
import { CLEANUP_PARTITION, dueSortKey, type JobKey, type TableKey, tableKeys } from '../table/table-keys.ts'
import { getVideoJob, isOpen, readVideoJobItem } from './job-reader.ts'

/**
 * Marks an open job as cancelled by its client. Its reservation is untouched: the execution resolves it, as for a deletion. The job
 * enters the clean-up index, because a video that is being stored must go.
 * @param cancellation names this request.
 * @returns the job as it is now. With another `cancellation` an earlier request cancelled it, without `cancelledAt` it had ended
 * before. Undefined when there is none (unknown, deleted, or too old).
 */
export async function markCancelled(
  table: Table,
  { tenantId, jobId }: JobKey,
  nowMilliseconds: number,
  cancellation: string = randomUUID(),
): Promise<VideoJob | undefined> {
  const cancelledAt = Math.trunc(nowMilliseconds / 1000)
  const oldest = oldestVisible(nowMilliseconds)
  const updated = await table.updateItem(
    change(tableKeys.job(tenantId, jobId), { set: { cancelledAt, cancellation, ...cleanUpAt(nowMilliseconds) } }, [
      isOpen,
      isNotDeleted,
      'attribute_not_exists(cancelledAt)',
      isNotTooOld(oldest),
    ]),
  )
  // A write whose response was lost finds its own mark.
  const job = updated.isWritten ? readVideoJobItem(updated.item) : await getVideoJob(table, tenantId, jobId)
  return job === undefined || job.isDeleted || job.createdAt <= oldest ? undefined : job
}

const isNotDeleted = 'attribute_not_exists(deleted)'

/** The creation time, in Unix seconds, up to which jobs are not shown any more. */
function oldestVisible(nowMilliseconds: number): number {
  return Math.trunc(nowMilliseconds / 1000) - JOB_RECORD_SECONDS
}

function isNotTooOld(oldest: number): Clause {
  return { condition: 'createdAt > :oldest', values: { ':oldest': oldest } }
}

/** The attributes by which the index leads to a job whose files may still exist. */
function cleanUpAt(nowMilliseconds: number) {
  return { GSI1PK: CLEANUP_PARTITION, GSI1SK: dueSortKey(nowMilliseconds) }
}

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
  const deletionMark = randomUUID()
  const key = tableKeys.job(job.tenantId, job.jobId)
  const update = change(key, { set: { deleted: true, deletionMark, ...cleanUpAt(nowMilliseconds) } }, [
    'attribute_exists(PK)',
    isNotDeleted,
    isNotTooOld(oldestVisible(nowMilliseconds)),
  ])
  if (audit !== undefined) {
    return await markWithEntry(table, update, audit)
  }
  const updated = await table.updateItem(update)
  const item = updated.isWritten ? updated.item : await readOwnMark(table, key, deletionMark)
  return item === undefined ? undefined : readVideoJobItem(item)
}

async function markWithEntry(table: Table, update: ItemUpdate, audit: TableWrite): Promise<VideoJob | undefined> {
  const refusal = await tryTransact(table, { job: { Update: update }, audit })
  if (refusal?.failed.has('job') === true) {
    return undefined
  }
  if (refusal !== undefined) {
    throw refusal
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
  const isAsRead = job.isDeleted ? ['attribute_exists(deleted)'] : ['attribute_exists(cancelledAt)', isNotDeleted]
  await table.updateItem(change(tableKeys.job(job.tenantId, job.jobId), { remove: ['GSI1PK', 'GSI1SK'] }, isAsRead))
}
