import type { VideoJob } from '#core/jobs/video-job.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

type JobKey = Pick<VideoJob, 'tenantId' | 'jobId'>

const isUnclaimed =
  '#status = :queued AND attribute_not_exists(submitState) AND attribute_not_exists(deleted) AND attribute_not_exists(cancelledAt)'

/**
 * Records that a check of the job's references is asked for. It is asked for once, whatever its result, so that a broken check
 * delays a submit but never prevents it.
 * @returns false when it was asked for before, or the job was claimed, deleted or ended.
 */
export async function recordCheckAsked(table: Table, job: JobKey): Promise<boolean> {
  const { isWritten } = await table.updateItem({
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: 'SET referenceCheck = :asked',
    ConditionExpression: `${isUnclaimed} AND attribute_not_exists(referenceCheck)`,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':queued': 'queued', ':asked': 'asked' },
  })
  return isWritten
}

/**
 * Records why the job is about to fail. From then on no submit claims it. Repeating this changes nothing.
 * @returns false when the job was claimed, deleted or ended meanwhile.
 */
export async function recordReferenceRefused(table: Table, job: JobKey, failure: string): Promise<boolean> {
  const { isWritten } = await table.updateItem({
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: 'SET referenceCheck = :refused, failure = :failure',
    ConditionExpression: isUnclaimed,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':queued': 'queued', ':refused': 'refused', ':failure': failure },
  })
  return isWritten
}
