import { randomUUID } from 'node:crypto'
import { JOB_RECORD_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import type { Table } from '../table/table.ts'
import { CLEANUP_PARTITION, dueSortKey, tableKeys } from '../table/table-keys.ts'
import { getVideoJob } from './job-reader.ts'
import { readVideoJobItem } from './video-job-item.ts'

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
