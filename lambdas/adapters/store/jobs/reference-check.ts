import type { VideoJob } from '#core/jobs/video-job.ts'
import { conditionalUpdate } from '../table/conditional-update.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

type JobKey = Pick<VideoJob, 'tenantId' | 'jobId'>

const isUnclaimed = '#status = :queued AND attribute_not_exists(submitState) AND attribute_not_exists(deleted)'

/**
 * Notes that the references of a job are about to be looked at: this is asked for once, whatever becomes of it, so that a
 * check that does not work delays a submit and never stands in its way.
 * @returns false when it was asked for before, or the job has moved.
 */
export async function recordCheckAsked(table: Table, job: JobKey): Promise<boolean> {
  const item = await conditionalUpdate(table, {
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: 'SET referenceCheck = :asked',
    ConditionExpression: `${isUnclaimed} AND attribute_not_exists(referenceCheck)`,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':queued': 'queued', ':asked': 'asked' },
  })
  return item !== undefined
}

/**
 * Keeps why the job is about to fail. From here on no submit claims it.
 * @returns false when the job has been claimed, deleted or ended meanwhile; refusing it again is no change.
 */
export async function recordReferenceRefused(table: Table, job: JobKey, failure: string): Promise<boolean> {
  const item = await conditionalUpdate(table, {
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: 'SET referenceCheck = :refused, failure = :failure',
    ConditionExpression: isUnclaimed,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':queued': 'queued', ':refused': 'refused', ':failure': failure },
  })
  return item !== undefined
}
