/**
 * Terminology, one word per thing:
 * - *video job*: what a client creates; it lives in the table from its reservation to 30 days later.
 * - *upstream*: the provider that makes the video; *task*: the upstream's own record of the work.
 * - *channel*: one upstream account under one base url; *route*: how a family A channel is reached.
 * - *claim*: the conditional write before a side effect that must happen at most once (submit, callback).
 * - *reservation*: the locked estimate; it is *settled* (billed) or *released*, exactly once.
 * - *resolve*: end the job and its reservation in one transaction.
 * - *passthrough*: the upstream's reply as a string, with the service's own fields spliced in.
 */
import type { VideoChannel } from '../catalogue/channel.ts'
import type { Microcredits } from '../money/money.ts'
import type { CallbackAttempt } from './callback-attempt.ts'
import type { JobTiming } from './generation-times.ts'
import type { ReportedPercent } from './reported-percent.ts'

/** Stored statuses. `expired` is not stored: it is computed when the job is read. */
export type VideoJobStatus = 'queued' | 'processing' | 'succeeded' | 'failed'

/** How far the one submit has come; undefined before any claim. */
type SubmitState = 'sending' | 'accepted'

/** An upstream's reply, inline or, when too large for the record, in the bucket. */
export type StoredText = { readonly inline: string } | { readonly bucketKey: string }

/** Times are unix seconds. */
export type VideoJob = {
  readonly tenantId: string
  readonly jobId: string
  readonly status: VideoJobStatus
  readonly model: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly isDeleted: boolean
  /** When its client cancelled it; the job reads `failed` from then on, and its execution resolves the money. */
  readonly cancelledAt?: number | undefined
  /** Names the request that cancelled it. */
  readonly cancellation?: string | undefined
  /** Object key of the video, chosen at creation with 128 random bits. */
  readonly videoKey: string
  readonly estimate: Microcredits
  readonly callbackUrl: string | undefined
  /** `x-request-id` of the request that created it, by which its log lines are found. */
  readonly requestId?: string | undefined
  /** A submit found no free channel, so a waiting client gets its response at once. */
  readonly isWaitingForChannel: boolean
  /** Whether a check of the references was asked for, and whether it refused one; undefined for most jobs. */
  readonly referenceCheck?: 'asked' | 'refused' | undefined
  readonly submitState: SubmitState | undefined
  readonly channelId: string | undefined
  /** Whose format the replies have, so that they can be read even when the channel has left the configuration. */
  readonly provider: VideoChannel['provider'] | undefined
  readonly submittedAt: number | undefined
  readonly taskId: string | undefined
  /** When the upstream's acceptance was recorded; absent before it. */
  readonly acceptedAt?: number | undefined
  /** Absent if no reply said one. */
  readonly upstreamPercent?: ReportedPercent | undefined
  /** Written with the acceptance; absent before it. */
  readonly timing?: JobTiming | undefined
  readonly submitText: StoredText | undefined
  /** The reply to the latest poll. */
  readonly pollText: StoredText | undefined
  /** Polls in a row that did not find the task. */
  readonly goneCount: number
  /** The upstream refused to cancel the task of a deleted or cancelled job, and is not asked again. */
  readonly isCancelRefused: boolean
  /** When a poll first said succeeded. */
  readonly finishedAt: number | undefined
  /** Set when the video is in the bucket: decimal seconds, or an empty string when the header has no length. */
  readonly storedDurationSeconds: string | undefined
  /** When the video was in the bucket; absent before. */
  readonly storedAt?: number | undefined
  /** Why the job is about to fail, written before the step reports it. */
  readonly failure: string | undefined
  /**
   * The cause of a failure or of a wait for a channel. For operators and the log: it names channels. A client reads `error`.
   */
  readonly failureCause?: string | undefined
  /** Final, with status failed. */
  readonly error: string | undefined
  /** `duration_secs` as a decimal string, final, with status succeeded. */
  readonly durationSeconds: string | undefined
  /** What was billed, final, with status succeeded. */
  readonly billed?: Microcredits | undefined
  /** When the job ended: the second of its settlement or release; absent before. */
  readonly endedAt?: number | undefined
  readonly callbackState: 'sent' | undefined
  /** Every try to deliver the callback, oldest first; absent before the first. */
  readonly callbackAttempts?: readonly CallbackAttempt[] | undefined
  /** How many resends of the callback were claimed; absent before the first. */
  readonly callbackResends?: number | undefined
}

/** Seconds from creation until a job reads `expired` and its url ends (docs/api.md: 7 days). */
export const JOB_LIFETIME_SECONDS = 7 * 24 * 60 * 60

/** Seconds from creation until a job is no longer found (docs/decisions/0076). */
export const JOB_RECORD_SECONDS = 30 * 24 * 60 * 60

/** What changes the status of a job. */
export type VideoJobEvent = 'created' | 'accepted' | 'settled' | 'billed' | 'released'

/**
 * The lifecycle: the statuses that each event may find, and the one that it leaves. Every write of a status takes both
 * from here, the former as its condition; no event finds a job that has ended.
 */
export const TRANSITIONS = {
  created: { from: [], to: 'queued' },
  accepted: { from: ['queued'], to: 'processing' },
  settled: { from: ['processing'], to: 'succeeded' },
  /** Settled without a video, because its client had cancelled the job. */
  billed: { from: ['processing'], to: 'failed' },
  released: { from: ['queued', 'processing'], to: 'failed' },
} as const satisfies Record<VideoJobEvent, { from: readonly VideoJobStatus[]; to: VideoJobStatus }>

/** Whether a job has ended; its status no longer changes. */
export function isTerminal(job: Pick<VideoJob, 'status'>): boolean {
  return job.status === 'succeeded' || job.status === 'failed'
}

/** Whether readers may see a job: it is not deleted, and its record is younger than {@link JOB_RECORD_SECONDS}. */
export function isVisible(job: Pick<VideoJob, 'isDeleted' | 'createdAt'>, nowSeconds: number): boolean {
  return !job.isDeleted && nowSeconds < job.createdAt + JOB_RECORD_SECONDS
}
