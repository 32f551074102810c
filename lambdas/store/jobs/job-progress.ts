import type { VideoChannel } from '#core/catalogue/channel.ts'
import {
  type JobErrorCode,
  type ReportedPercent,
  type StoredText,
  TRANSITIONS,
  type VideoJob,
} from '#core/jobs/video-job.ts'
import type { JobTiming } from '#core/jobs/waits.ts'
import { type Change, type Clause, change, isStill } from '../table/expressions.ts'
import { type Table, tryTransact } from '../table/table.ts'
import { type JobKey, tableKeys } from '../table/table-keys.ts'
import { isOpen, readVideoJobItem, storeText } from './job-reader.ts'

const isQueued = { condition: '#status = :queued', values: { ':queued': 'queued' } }
const isUnclaimed = 'attribute_not_exists(submitState)'
const isWanted = 'attribute_not_exists(deleted) AND attribute_not_exists(cancelledAt)'
const isSending = { condition: 'submitState = :sending', values: { ':sending': 'sending' } }
const isNotRefused = {
  condition: '(attribute_not_exists(referenceCheck) OR referenceCheck <> :refused)',
  values: { ':refused': 'refused' },
}

/** Changes the record of a job where all clauses hold. */
function changeJob(table: Table, { tenantId, jobId }: JobKey, what: Change, clauses: readonly Clause[]) {
  return table.updateItem(change(tableKeys.job(tenantId, jobId), what, clauses))
}

type ClaimedChannel = Pick<VideoChannel, 'id' | 'provider' | 'max_open_jobs'>

/** Whether the job may be posted to the channel now; see {@link claimSubmit}. */
type ClaimOutcome = 'claimed' | 'channel_full' | 'job_moved'

/**
 * Claims the one submit of this job, and one slot of the channel, in one transaction.
 * `job_moved` means that the job was claimed, deleted, cancelled, refused or ended before.
 */
export async function claimSubmit(
  table: Table,
  { job, channel, nowSeconds }: { job: JobKey; channel: ClaimedChannel; nowSeconds: number },
): Promise<ClaimOutcome> {
  const claim = {
    set: { submitState: 'sending', channelId: channel.id, provider: channel.provider, submittedAt: nowSeconds },
    remove: ['isWaitingForChannel', 'failure', 'failureCause', 'errorCode'],
  }
  const isJobFree = [isQueued, isUnclaimed, isWanted, isNotRefused]
  const isSlotFree = {
    condition: 'attribute_not_exists(#open) OR #open < :max',
    values: { ':max': channel.max_open_jobs },
  }
  const refusal = await tryTransact(table, {
    job: { Update: change(tableKeys.job(job.tenantId, job.jobId), claim, isJobFree) },
    slot: { Update: change(tableKeys.channel(channel.id), { add: { open: 1, version: 1 } }, [isSlotFree]) },
  })
  if (refusal === undefined) {
    return 'claimed'
  }
  return refusal.failed.has('job') ? 'job_moved' : 'channel_full'
}

/** Gives back a claim after a definite refusal, when the upstream accepted nothing, and frees the slot. */
export async function releaseSubmitClaim(table: Table, job: JobKey, channelId: string): Promise<void> {
  const release = { remove: ['submitState', 'channelId', 'provider', 'submittedAt'] }
  await table.transact({
    job: {
      Update: change(tableKeys.job(job.tenantId, job.jobId), release, [
        isQueued,
        isSending,
        isStill('channelId', channelId),
      ]),
    },
    slot: { Update: change(tableKeys.channel(channelId), { add: { open: -1, version: 1 } }) },
  })
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
  const { from, to: processing } = TRANSITIONS.accepted
  const text = storeText('submitText', submitText)
  const accepted = {
    set: { submitState: 'accepted', taskId, status: processing, timing, upstreamPercent, ...text.set },
    setOnce: { acceptedAt },
    remove: text.remove,
  }
  const isExpected = {
    condition: '((#status = :queued AND submitState = :sending) OR (#status = :processing AND taskId = :task))',
    values: { ':queued': from[0], ':sending': 'sending', ':processing': processing, ':task': taskId },
  }
  const { isWritten, item } = await changeJob(table, job, accepted, [isExpected])
  return isWritten ? readVideoJobItem(item) : undefined
}

/** Records that no channel was free, so that the waiting client gets its response at once, and why, for operators. */
export async function recordWaitingForChannel(table: Table, job: JobKey, failureCause: string): Promise<void> {
  await changeJob(table, job, { set: { isWaitingForChannel: true, failureCause } }, [isQueued, isUnclaimed])
}

/**
 * Records that a check of the job's references is asked for. It is asked for once, whatever its result, so that a broken check
 * delays a submit but never prevents it.
 * @returns false when it was asked for before, or the job was claimed, deleted or ended.
 */
export async function recordCheckAsked(table: Table, job: JobKey): Promise<boolean> {
  const isUnasked = 'attribute_not_exists(referenceCheck)'
  const isWaiting = [isQueued, isUnclaimed, isWanted, isUnasked]
  return (await changeJob(table, job, { set: { referenceCheck: 'asked' } }, isWaiting)).isWritten
}

/**
 * Records why the job is about to fail. From then on no submit claims it. Repeating this changes nothing.
 * @returns false when the job was claimed, deleted or ended meanwhile.
 */
export async function recordReferenceRefused(table: Table, job: JobKey, failure: string): Promise<boolean> {
  const isWaiting = [isQueued, isUnclaimed, isWanted]
  return (await changeJob(table, job, { set: { referenceCheck: 'refused', failure } }, isWaiting)).isWritten
}

/** What one poll found out. Fields that are left out stay as they are. */
type PollRecord = {
  readonly pollText?: StoredText
  readonly goneCount?: number
  readonly isCancelRefused?: true
  /** Unix seconds. */
  readonly finishedAt?: number
  readonly upstreamPercent?: ReportedPercent | undefined
}

/** Records what a poll found out, while the job is open. */
export async function recordPoll(
  table: Table,
  job: JobKey,
  { pollText, finishedAt, ...set }: PollRecord,
): Promise<void> {
  const text = pollText && storeText('pollText', pollText)
  const found = { set: { ...set, ...text?.set }, setOnce: { finishedAt }, remove: text?.remove ?? [] }
  await changeJob(table, job, found, [isOpen])
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
  const stored = { set: { storedDurationSeconds: durationSeconds ?? '' }, setOnce: { storedAt: nowSeconds } }
  return (await changeJob(table, job, stored, [isOpen])).isWritten
}

/** @param cause what the log says; left out where `failure` says the same. */
type FailureRecord = {
  readonly failure: string
  readonly cause?: string
  readonly errorCode?: JobErrorCode
  readonly pollText?: StoredText
}

/** Records why the job is about to fail, and the upstream's refusal, before the step throws: the execution carries ids only. */
export async function recordFailure(
  table: Table,
  job: JobKey,
  { failure, cause: failureCause, errorCode, pollText }: FailureRecord,
): Promise<void> {
  const text = pollText && storeText('pollText', pollText)
  const failed = { set: { failure, failureCause, errorCode, ...text?.set }, remove: text?.remove ?? [] }
  await changeJob(table, job, failed, [isOpen])
}
