import { JOB_LIFETIME_SECONDS, type VideoJob } from './video-job.ts'
import { type VisibleStatus, visibleStatus } from './visible-status.ts'

/** Which jobs a listing shows. Times are Unix seconds. */
export type JobFilter = {
  /** As clients read it. */
  readonly status?: VisibleStatus | undefined
  /** Public id. */
  readonly model?: string | undefined
  /** Inclusive. */
  readonly createdAfter?: number | undefined
  /** Exclusive. */
  readonly createdBefore?: number | undefined
}

/** Whether a listing shows a job. */
export function matchesFilter(job: VideoJob, filter: JobFilter, nowSeconds: number): boolean {
  const { status, model, createdAfter, createdBefore } = filter
  return (
    (status === undefined || visibleStatus(job, nowSeconds) === status) &&
    (model === undefined || job.model === model) &&
    (createdAfter === undefined || job.createdAt >= createdAfter) &&
    (createdBefore === undefined || job.createdAt < createdBefore)
  )
}

/** Whether most jobs of the filter's time may be left out, so that a page can need many reads. */
export function isSparse({ status, model }: JobFilter): boolean {
  return status !== undefined || model !== undefined
}

/** The creation times outside of which no job matches: `from` inclusive, `before` exclusive, Unix seconds. */
export function creationTimes(
  { status, createdAfter, createdBefore }: JobFilter,
  nowSeconds: number,
): { readonly from: number; readonly before: number } {
  // Jobs of the lifetime's last second are expired, so only older ones have any other status.
  const firstUnexpired = nowSeconds - JOB_LIFETIME_SECONDS + 1
  const from = status === undefined || status === 'expired' ? 0 : firstUnexpired
  const before = status === 'expired' ? firstUnexpired : Number.POSITIVE_INFINITY
  return { from: Math.max(from, createdAfter ?? 0), before: Math.min(before, createdBefore ?? before) }
}
