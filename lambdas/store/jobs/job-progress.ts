import type { VideoChannel } from '#core/catalogue/channel.ts'
import { type ReportedPercent, type StoredText, TRANSITIONS, type VideoJob } from '#core/jobs/video-job.ts'
import type { JobTiming } from '#core/jobs/waits.ts'
import { ConditionsNotMetError, type Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { readVideoJobItem, storedTextAttributes } from './job-reader.ts'

type JobKey = Pick<VideoJob, 'tenantId' | 'jobId'>

const isQueued = '#status = :queued'
const isUnclaimed = 'attribute_not_exists(submitState)'
const isWanted = 'attribute_not_exists(deleted) AND attribute_not_exists(cancelledAt)'
const isNotRefused = '(attribute_not_exists(referenceCheck) OR referenceCheck <> :refused)'
const isSending = 'submitState = :sending'

type ClaimedChannel = Pick<VideoChannel, 'id' | 'provider' | 'max_open_jobs'>

/** Whether the job may be posted to the channel now; see {@link claimSubmit}. */
export type ClaimOutcome = 'claimed' | 'channel_full' | 'job_moved'

/**
 * Claims the one submit of this job, and one slot of the channel, in one transaction.
 * `job_moved` means that the job was claimed, deleted, cancelled, refused or ended before.
 */
export async function claimSubmit(
  table: Table,
  { job, channel, nowSeconds }: { job: JobKey; channel: ClaimedChannel; nowSeconds: number },
): Promise<ClaimOutcome> {
  const claim = {
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression:
      'SET submitState = :sending, channelId = :channel, provider = :provider, submittedAt = :now REMOVE isWaitingForChannel, failure, failureCause',
    ConditionExpression: [isQueued, isUnclaimed, isWanted, isNotRefused].join(' AND '),
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':queued': 'queued',
      ':refused': 'refused',
      ':sending': 'sending',
      ':channel': channel.id,
      ':provider': channel.provider,
      ':now': nowSeconds,
    },
  }
  const slot = {
    Key: tableKeys.channel(channel.id),
    UpdateExpression: 'ADD #open :one, version :one',
    ConditionExpression: 'attribute_not_exists(#open) OR #open < :max',
    ExpressionAttributeNames: { '#open': 'open' },
    ExpressionAttributeValues: { ':one': 1, ':max': channel.max_open_jobs },
  }
  try {
    await table.transact({ job: { Update: claim }, slot: { Update: slot } })
    return 'claimed'
  } catch (error) {
    if (error instanceof ConditionsNotMetError) {
      return error.failed.has('job') ? 'job_moved' : 'channel_full'
    }
    throw error
  }
}

/** Gives back a claim after a definite refusal, when the upstream accepted nothing, and frees the slot. */
export async function releaseSubmitClaim(table: Table, job: JobKey, channelId: string): Promise<void> {
  const release = {
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: 'REMOVE submitState, channelId, provider, submittedAt',
    ConditionExpression: [isQueued, isSending, 'channelId = :channel'].join(' AND '),
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':queued': 'queued', ':sending': 'sending', ':channel': channelId },
  }
  const slot = {
    Key: tableKeys.channel(channelId),
    UpdateExpression: 'ADD #open :minusOne, version :one',
    ExpressionAttributeNames: { '#open': 'open' },
    ExpressionAttributeValues: { ':one': 1, ':minusOne': -1 },
  }
  await table.transact({ job: { Update: release }, slot: { Update: slot } })
}

/** `timing` is stored with the acceptance, so that no later poll needs another read. */
type Acceptance = {
  readonly taskId: string
  readonly submitText: StoredText
  readonly timing?: JobTiming
  /** Unix seconds. */
  readonly acceptedAt: number
  /** What the reply says. */
  readonly upstreamPercent?: ReportedPercent | undefined
}

/**
 * Records the upstream's acceptance: from then on the job is processing. Recording the same task again changes nothing, so that a
 * write whose response was lost is not taken for a lost job. Undefined when the job was ended meanwhile.
 */
export async function recordAccepted(
  table: Table,
  job: JobKey,
  { taskId, submitText, timing, acceptedAt, upstreamPercent }: Acceptance,
): Promise<VideoJob | undefined> {
  const text = storedTextAttributes('submitText', submitText)
  const {
    from: [queued],
    to: processing,
  } = TRANSITIONS.accepted
  const isRecordedAlready = '#status = :processing AND taskId = :task'
  const sets = [
    'submitState = :accepted',
    'taskId = :task',
    '#status = :processing',
    `${text.set} = :text`,
    'acceptedAt = if_not_exists(acceptedAt, :at)',
    ...(timing === undefined ? [] : ['timing = :timing']),
    ...(upstreamPercent === undefined ? [] : ['upstreamPercent = :percent']),
  ]
  const { isWritten, item } = await table.updateItem({
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: `SET ${sets.join(', ')} REMOVE ${text.remove}`,
    ConditionExpression: `(${[isQueued, isSending].join(' AND ')}) OR (${isRecordedAlready})`,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':accepted': 'accepted',
      ':task': taskId,
      ':processing': processing,
      ':text': text.value,
      ':queued': queued,
      ':sending': 'sending',
      ':at': acceptedAt,
      ...(timing === undefined ? {} : { ':timing': timing }),
      ...(upstreamPercent === undefined ? {} : { ':percent': upstreamPercent }),
    },
  })
  return isWritten ? readVideoJobItem(item) : undefined
}

/** Records that no channel was free, so that the waiting client gets its response at once, and why, for operators. */
export async function recordWaitingForChannel(table: Table, job: JobKey, cause: string): Promise<void> {
  await table.updateItem({
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: 'SET isWaitingForChannel = :true, failureCause = :cause',
    ConditionExpression: [isQueued, isUnclaimed].join(' AND '),
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':true': true, ':cause': cause, ':queued': 'queued' },
  })
}

const isWaiting =
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
    ConditionExpression: `${isWaiting} AND attribute_not_exists(referenceCheck)`,
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
    ConditionExpression: isWaiting,
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':queued': 'queued', ':refused': 'refused', ':failure': failure },
  })
  return isWritten
}

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
