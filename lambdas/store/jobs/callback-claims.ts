import { RESENDS_MAX } from '#core/jobs/callback.ts'
import type { CallbackAttempt, VideoJob } from '#core/jobs/video-job.ts'
import { change, isStill } from '../table/expressions.ts'
import { type Table, type TableWrite, tryTransact } from '../table/table.ts'
import { type JobKey, tableKeys } from '../table/table-keys.ts'

const isNotDeleted = 'attribute_not_exists(deleted)'
/** For the client: see `hasEnded`. */
const isEnded = {
  condition: '(#status IN (:succeeded, :failed) OR attribute_exists(cancelledAt))',
  values: { ':succeeded': 'succeeded', ':failed': 'failed' },
}

/** The automatic callback; resends count on from it. */
export const FIRST_ATTEMPT = 1

/**
 * Claims the one automatic callback of a job, before any connection is made, so that at most one is ever sent.
 * @returns false when it was claimed before, or the job is deleted or still open.
 */
export async function claimCallback(table: Table, job: JobKey): Promise<boolean> {
  const isUnsent = 'attribute_not_exists(callbackState)'
  const sent = { set: { callbackState: 'sent' } }
  const key = tableKeys.job(job.tenantId, job.jobId)
  return (await table.updateItem(change(key, sent, [isEnded, isUnsent, isNotDeleted]))).isWritten
}

/** @param audit the entry of the audit log, if the resend is an operator's. */
type ResendClaim = {
  readonly job: JobKey & Pick<VideoJob, 'callbackResends'>
  readonly audit?: ((attempt: number) => TableWrite) | undefined
}

/**
 * Claims the next resend of a callback, as it was counted when the job was read.
 * @returns the number of the attempt; undefined when the job changed: it was deleted, or another resend was faster.
 */
export async function claimResend(table: Table, { job, audit }: ResendClaim): Promise<number | undefined> {
  const callbackResends = (job.callbackResends ?? 0) + 1
  const attempt = FIRST_ATTEMPT + callbackResends
  const isNext = isStill('callbackResends', job.callbackResends)
  const key = tableKeys.job(job.tenantId, job.jobId)
  const claim = change(key, { set: { callbackResends } }, [isEnded, isNext, isNotDeleted])
  const refusal = await tryTransact(table, { job: { Update: claim }, audit: audit?.(attempt) })
  return refusal === undefined ? attempt : undefined
}

/** Room for every attempt, and for those that a repeated write recorded twice. */
const RECORDED_MAX = 2 * (FIRST_ATTEMPT + RESENDS_MAX)

/** Records the outcome of an attempt. A write whose response was lost may record it twice, which readers merge. */
export async function recordCallbackAttempt(table: Table, job: JobKey, attempt: CallbackAttempt): Promise<void> {
  await table.updateItem({
    Key: tableKeys.job(job.tenantId, job.jobId),
    UpdateExpression: 'SET callbackAttempts = list_append(if_not_exists(callbackAttempts, :none), :attempt)',
    ConditionExpression:
      'attribute_exists(PK) AND (attribute_not_exists(callbackAttempts) OR size(callbackAttempts) < :max)',
    ExpressionAttributeValues: { ':none': [], ':attempt': [withoutAbsent(attempt)], ':max': RECORDED_MAX },
  })
}

function withoutAbsent(attempt: CallbackAttempt): object {
  return Object.fromEntries(Object.entries(attempt).filter(([, value]) => value !== undefined))
}
