import type { Microcredits } from '../money.ts'
import type { JobTiming } from './waits.ts'

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

/** Stored statuses. `expired` is not stored: it is computed when the job is read. */
export type VideoJobStatus = 'queued' | 'processing' | 'succeeded' | 'failed'

/** How far the one submit has come; undefined before any claim. */
type SubmitState = 'sending' | 'accepted'

/** An upstream's reply, inline or, when too large for the record, in the bucket. */
export type StoredText = { readonly inline: string } | { readonly bucketKey: string }

/** Why no channel took a job, in the codes of relayed requests. */
export const JOB_ERROR_CODES = [
  'upstream_auth',
  'upstream_quota',
  'upstream_unavailable',
  'upstream_error',
  'upstream_rate_limited',
  'no_channel_available',
] as const

/** One of {@link JOB_ERROR_CODES}. */
export type JobErrorCode = (typeof JOB_ERROR_CODES)[number]

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
  readonly provider: string | undefined
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
  /** Why no channel took the job, for its client: one of {@link JOB_ERROR_CODES}. Absent for any other failure. */
  readonly errorCode?: string | undefined
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

/** The gateway's own texts for the `error` of a failed job. An upstream's message takes their place where there is one. */
export const FAILURE_TEXT = {
  generationTimedOut: 'generation timed out',
  referenceRefused: 'a reference breaks a limit of the model',
  noUpstreamCapacity: 'no upstream capacity',
  resultCouldNotBeStored: 'result could not be stored',
  submitOutcomeUnknown: 'submit outcome unknown',
  resultIsNotAVideo: 'upstream result is not a video',
  taskIsGone: 'upstream lost the task',
  deleted: 'deleted by the client',
  cancelledByOperator: 'cancelled by the operator',
  cancelledByClient: 'cancelled by the client',
  internal: 'internal error',
} as const

/**
 * Every expected failure of a job, and its text when the record holds none. An upstream's refusal or failure is always
 * recorded with its message, so no text is due.
 */
const TEXT_BY_FAILURE = {
  /** The upstream refused the request. */
  UpstreamRejectedError: FAILURE_TEXT.internal,
  /** The upstream reported that the generation failed. */
  UpstreamFailedError: FAILURE_TEXT.internal,
  /** A reference breaks a limit of its model. */
  ReferenceRefusedError: FAILURE_TEXT.referenceRefused,
  /** The upstream may have accepted the job, so it is not posted again. */
  SubmitUnknownError: FAILURE_TEXT.submitOutcomeUnknown,
  /** Every channel refused the job, or none took it before its time in the queue was over. */
  NoUpstreamCapacityError: FAILURE_TEXT.noUpstreamCapacity,
  /** The upstream had not finished by the deadline. */
  GenerationTimedOutError: FAILURE_TEXT.generationTimedOut,
  /** Several polls in a row did not find the task. */
  TaskGoneError: FAILURE_TEXT.taskIsGone,
  /** The last try to store the result failed. Thrown while more tries are left. */
  StoreFailedError: FAILURE_TEXT.resultCouldNotBeStored,
  /** The result cannot be stored, and no further try would change that. */
  ResultNotStoredError: FAILURE_TEXT.resultCouldNotBeStored,
  /** The result is not a video. */
  ResultNotAVideoError: FAILURE_TEXT.resultIsNotAVideo,
  /** The client deleted or cancelled the job before it was submitted, or the upstream cancelled its task. */
  JobDeletedError: FAILURE_TEXT.deleted,
} as const

/** Why a job fails, as a step reports it to the state machine. */
export type JobFailure = keyof typeof TEXT_BY_FAILURE

/**
 * The `error` of a job whose record holds no reason.
 * @param name a {@link JobFailure}, or the name of any other error that broke its execution.
 */
export function failureTextOf(name: string | undefined): string {
  return new Map<string, string>(Object.entries(TEXT_BY_FAILURE)).get(name ?? '') ?? FAILURE_TEXT.internal
}

/** What clients read as `status`. */
export const VISIBLE_STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'expired'] as const

/** One of {@link VISIBLE_STATUSES}. */
export type VisibleStatus = VideoJobStatus | 'expired'

/** What a listing may be filtered by: a status, or `cancelled`, which is a part of `failed`. */
export const LISTED_STATUSES = [...VISIBLE_STATUSES, 'cancelled'] as const

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

/** Whether its client or the operator ended a job, which then reads `failed`. */
export function isCancelled(job: Cancellable & Pick<VideoJob, 'error'>): boolean {
  return job.cancelledAt !== undefined || isCancelledByOperator(job)
}

/** Whether the operator ended the job. */
export function isCancelledByOperator({ status, error }: Pick<VideoJob, 'status' | 'error'>): boolean {
  return status === 'failed' && error === FAILURE_TEXT.cancelledByOperator
}

/** Whether nobody waits for the video of a job: its client has deleted or cancelled it. */
export function isUnwanted({ isDeleted, cancelledAt }: Pick<VideoJob, 'isDeleted' | 'cancelledAt'>): boolean {
  return isDeleted || cancelledAt !== undefined
}

/** What a step returns: the next state and, before a wait, its whole seconds. Read by `video-job.asl.json`. */
export type NextStep =
  | { readonly step: 'submit' | 'poll'; readonly waitSeconds: number }
  | { readonly step: 'check' | 'store' | 'settle' | 'notify' | 'done' }
  /** The job fails. The record holds the reason for the client, the name that for the operator. */
  | { readonly step: 'fail'; readonly error: JobFailure }

/**
 * The input of a step: what its execution carries. A running execution keeps its definition for hours after a deployment, so no step
 * may return what an older definition does not know. The definition passes its number, for the first change that needs it.
 */
export type StepInput = {
  readonly tenantId: string
  readonly jobId: string
  /** The result of the previous step: Poll reads the wait before it, Fail the failure. */
  readonly next?: { readonly waitSeconds?: number; readonly error?: string }
  /** The error that broke the previous step; for Fail. */
  readonly failure?: { readonly Error?: string }
}

/** The largest percentage that an upstream has reported for an open job. */
export type ReportedPercent = {
  readonly percent: number
  /** Unix seconds of the poll that brought the first report; absent if the reply to the submit brought one. */
  readonly since?: number | undefined
}

/**
 * The report to keep after a reply that says a percentage.
 * @param percent from 0 to 100.
 * @param since left out for the reply to the submit.
 */
export function withReportedPercent(
  known: ReportedPercent | undefined,
  percent: number,
  since?: number,
): ReportedPercent {
  if (known !== undefined) {
    return { ...known, percent: Math.max(known.percent, percent) }
  }
  return since === undefined ? { percent } : { percent, since }
}

/** One try to deliver the callback of a job. */
export type CallbackAttempt = {
  /** Unix seconds. */
  readonly at: number
  /** From 1. */
  readonly attempt: number
  /** HTTP status of the receiver; absent without a response. */
  readonly status?: number | undefined
  readonly milliseconds: number
  /** Why the callback was not delivered. */
  readonly error?: string | undefined
  readonly delivered: boolean
}

/** An attempt as JSON: `status` is null without a response, `error` null when the callback was delivered. */
export function callbackAttemptView({ at, attempt, status, milliseconds, error, delivered }: CallbackAttempt) {
  return { attempt, at, status: status ?? null, milliseconds, error: error ?? null, delivered }
}

/** Attempts in order, each once: a repeated write may have recorded one twice. */
export function inOrder(attempts: readonly CallbackAttempt[]): readonly CallbackAttempt[] {
  const byNumber = new Map(attempts.map((each) => [each.attempt, each]))
  return [...byNumber.values()].sort((left, right) => left.attempt - right.attempt)
}
