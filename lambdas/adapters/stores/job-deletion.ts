import { JOB_RECORD_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { conditionalUpdate } from './conditional-update.ts'
import type { Table } from './table.ts'
import { CLEANUP_PARTITION, dueSortKey, tableKeys } from './table-keys.ts'
import { readVideoJobItem } from './video-job-item.ts'

type JobKey = Pick<VideoJob, 'tenantId' | 'jobId'>

/**
 * Makes a job invisible, in any state. The reservation is untouched: the execution resolves it.
 * The record enters the clean-up index, so that its file is removed even if this process dies now.
 * @returns the job after the mark, or undefined when there is none to delete (unknown, deleted before, or too old).
 */
export async function markDeleted(table: Table, job: JobKey, nowMilliseconds: number): Promise<VideoJob | undefined> {
  const exists = 'attribute_exists(PK)'
  const isNotDeleted = 'attribute_not_exists(deleted)'
  const isNotTooOld = 'createdAt > :oldest'
  const item = await conditionalUpdate(table, {
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: 'SET deleted = :true, GSI1PK = :cleanup, GSI1SK = :now',
    ConditionExpression: [exists, isNotDeleted, isNotTooOld].join(' AND '),
    ExpressionAttributeValues: {
      ':true': true,
      ':cleanup': CLEANUP_PARTITION,
      ':now': dueSortKey(nowMilliseconds),
      ':oldest': Math.trunc(nowMilliseconds / 1000) - JOB_RECORD_SECONDS,
    },
  })
  return item === undefined ? undefined : readVideoJobItem(item)
}

/** Says that nothing of a deleted, ended job is left in the bucket. */
export async function recordCleanedUp(table: Table, job: JobKey): Promise<void> {
  await conditionalUpdate(table, {
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: 'REMOVE GSI1PK, GSI1SK',
    ConditionExpression: 'deleted = :true',
    ExpressionAttributeValues: { ':true': true },
  })
}
