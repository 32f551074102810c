import type { VideoJob, VideoJobStatus } from './video-job.ts'

/** What clients read as `status`. */
export const VISIBLE_STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'expired'] as const

/** One of {@link VISIBLE_STATUSES}. */
export type VisibleStatus = VideoJobStatus | 'expired'

/** The status that clients read: `expired` is computed, from `expires_at` on, for any job. */
export function visibleStatus(job: Pick<VideoJob, 'status' | 'expiresAt'>, nowSeconds: number): VisibleStatus {
  return nowSeconds >= job.expiresAt ? 'expired' : job.status
}
