import type { Reservation } from '#adapters/store/money/reservation.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money.ts'
import type { LedgerEntry } from '#core/pricing/usage.ts'
import { withoutUrls } from './record-timeline.ts'

/** A job for an operator: no prompt, reference, url or reply, except for what the upstream's error sentence quotes. */
export function describeJob(job: VideoJob, reservation: Reservation | undefined, ledger: readonly LedgerEntry[]) {
  return {
    ...jobRow(job),
    request_id: job.requestId ?? null,
    upstream_task: job.taskId ?? null,
    submit: job.submitState ?? null,
    waiting_for_channel: job.isWaitingForChannel,
    expires_at: iso(job.expiresAt),
    submitted_at: iso(job.submittedAt),
    // A job that was cancelled or timed out has an end and no such moment.
    finished_upstream_at: iso(job.finishedAt),
    ended_at: ledger.find(({ kind }) => kind === 'settle' || kind === 'release')?.at ?? null,
    stored: job.storedDurationSeconds !== undefined,
    duration_secs: job.durationSeconds ?? null,
    callback: job.callbackUrl === undefined ? 'none' : job.callbackState === 'sent' ? 'sent' : 'not sent',
    reservation:
      reservation === undefined
        ? null
        : {
            state: reservation.state,
            amount: formatCredits(reservation.amount),
            actual: reservation.actual === undefined ? null : formatCredits(reservation.actual),
            restarts: reservation.restarts,
          },
    ledger,
  }
}

/** A job in a list. */
export function jobRow(job: VideoJob) {
  const error = job.error ?? job.failure
  return {
    id: job.jobId,
    tenant: job.tenantId,
    status: job.status,
    deleted: job.isDeleted,
    model: job.model,
    channel: job.channelId ?? null,
    created_at: iso(job.createdAt),
    error: error === undefined ? null : withoutUrls(error),
    // A job that waits for a channel has a cause and no error.
    cause: job.failureCause === undefined ? null : withoutUrls(job.failureCause),
  }
}

function iso(seconds: number | undefined): string | null {
  return seconds === undefined ? null : new Date(seconds * 1000).toISOString()
}
