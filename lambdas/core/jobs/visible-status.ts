import { FAILURE_TEXT } from './job-failure.ts'
import { isTerminal, type VideoJob, type VideoJobStatus } from './video-job.ts'

/** What clients read as `status`. */
export const VISIBLE_STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'expired'] as const

/** One of {@link VISIBLE_STATUSES}. */
export type VisibleStatus = VideoJobStatus | 'expired'

type Cancellable = Pick<VideoJob, 'status' | 'cancelledAt'>

/** The status that clients read: `expired` is computed, from `expires_at` on, for any job. */
export function visibleStatus(job: Cancellable & Pick<VideoJob, 'expiresAt'>, nowSeconds: number): VisibleStatus {
  return nowSeconds >= job.expiresAt ? 'expired' : unexpiredStatus(job)
}

/** The status that clients read before `expires_at`: a job that its client has cancelled is `failed` at once, while its execution goes on. */
export function unexpiredStatus({ status, cancelledAt }: Cancellable): VideoJobStatus {
  return cancelledAt === undefined ? status : 'failed'
}

/** Whether a job has ended for its client. */
export function hasEnded(job: Cancellable): boolean {
  return isTerminal(job) || job.cancelledAt !== undefined
}

/** The `error` of a failed job, as clients read it. */
export function visibleError({ error, cancelledAt }: Pick<VideoJob, 'error' | 'cancelledAt'>): string {
  return error ?? (cancelledAt === undefined ? '' : FAILURE_TEXT.cancelledByClient)
}

/** Whether nobody waits for the video of a job: its client has deleted or cancelled it. */
export function isUnwanted({ isDeleted, cancelledAt }: Pick<VideoJob, 'isDeleted' | 'cancelledAt'>): boolean {
  return isDeleted || cancelledAt !== undefined
}
