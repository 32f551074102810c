import type { ReportedPercent, StoredText, VideoJob } from '#core/jobs/video-job.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { storedTextAttributes } from './video-job-item.ts'

type JobKey = Pick<VideoJob, 'tenantId' | 'jobId'>

const isOpen = '#status IN (:queued, :processing)'
const openValues = { ':queued': 'queued', ':processing': 'processing' }
const statusName = { '#status': 'status' }

/** What one poll found out. Fields that are left out stay as they are. */
export type PollRecord = {
  readonly pollText?: StoredText
  readonly goneCount?: number
  readonly isCancelRefused?: true
  /** Unix seconds. */
  readonly finishedAt?: number
  readonly upstreamPercent?: ReportedPercent | undefined
}

/** Records what a poll found out, while the job is open. */
export async function recordPoll(table: Table, job: JobKey, record: PollRecord): Promise<void> {
  const sets: string[] = []
  const removes: string[] = []
  const values: Record<string, unknown> = {}
  if (record.pollText !== undefined) {
    const text = storedTextAttributes('pollText', record.pollText)
    sets.push(`${text.set} = :text`)
    removes.push(text.remove)
    values[':text'] = text.value
  }
  if (record.goneCount !== undefined) {
    sets.push('goneCount = :gone')
    values[':gone'] = record.goneCount
  }
  if (record.isCancelRefused !== undefined) {
    sets.push('isCancelRefused = :refused')
    values[':refused'] = true
  }
  if (record.finishedAt !== undefined) {
    sets.push('finishedAt = if_not_exists(finishedAt, :finished)')
    values[':finished'] = record.finishedAt
  }
  if (record.upstreamPercent !== undefined) {
    sets.push('upstreamPercent = :percent')
    values[':percent'] = record.upstreamPercent
  }
  await table.updateItem({
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: `SET ${sets.join(', ')}${removes.length > 0 ? ` REMOVE ${removes.join(', ')}` : ''}`,
    ConditionExpression: isOpen,
    ExpressionAttributeNames: statusName,
    ExpressionAttributeValues: { ...openValues, ...values },
  })
}

/** `durationSeconds` is undefined if the header of the video has no length; the record then has an empty string. Times are unix seconds. */
type StoredRecord = { readonly durationSeconds: string | undefined; readonly nowSeconds: number }

/**
 * Records that the video is in the bucket, and since when.
 * @returns false when the job had ended before.
 */
export async function recordStored(
  table: Table,
  job: JobKey,
  { durationSeconds, nowSeconds }: StoredRecord,
): Promise<boolean> {
  const { isWritten } = await table.updateItem({
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: 'SET storedDurationSeconds = :duration, storedAt = if_not_exists(storedAt, :now)',
    ConditionExpression: isOpen,
    ExpressionAttributeNames: statusName,
    ExpressionAttributeValues: { ...openValues, ':duration': durationSeconds ?? '', ':now': nowSeconds },
  })
  return isWritten
}

/** @param cause what the log says; left out where `failure` says the same. */
type FailureRecord = { readonly failure: string; readonly cause?: string; readonly pollText?: StoredText }

/** Records why the job is about to fail, and the upstream's refusal, before the step throws: the execution carries ids only. */
export async function recordFailure(
  table: Table,
  job: JobKey,
  { failure, cause, pollText }: FailureRecord,
): Promise<void> {
  const text = pollText === undefined ? undefined : storedTextAttributes('pollText', pollText)
  const sets = [
    'failure = :failure',
    ...(cause === undefined ? [] : ['failureCause = :cause']),
    ...(text === undefined ? [] : [`${text.set} = :text`]),
  ]
  await table.updateItem({
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: `SET ${sets.join(', ')}${text === undefined ? '' : ` REMOVE ${text.remove}`}`,
    ConditionExpression: isOpen,
    ExpressionAttributeNames: statusName,
    ExpressionAttributeValues: {
      ...openValues,
      ':failure': failure,
      ...(cause === undefined ? {} : { ':cause': cause }),
      ...(text === undefined ? {} : { ':text': text.value }),
    },
  })
}
