import { jobPercent } from '#core/jobs/job-events.ts'
import { hasEnded, type VideoJob, visibleError, visibleStatus } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money.ts'

/** A job as a row of a list. */
export function videoRow(job: VideoJob, tenant: { readonly id: string; readonly name: string }, nowSeconds: number) {
  const [, seconds, resolution] = /#(\d+)#([^#]+)$/.exec(job.timing?.className ?? '') ?? []
  const isEnded = hasEnded(job)
  const progress = isEnded ? undefined : jobPercent(job, nowSeconds)
  return {
    id: job.jobId,
    tenant,
    status: visibleStatus(job, nowSeconds),
    model: job.model,
    created_at: job.createdAt,
    ended_at: job.endedAt ?? null,
    duration: lengthOf(job) ?? (seconds === undefined ? null : Number(seconds)),
    resolution: resolution ?? null,
    channel: job.channelId ?? null,
    cost: costOf(job),
    estimate: formatCredits(job.estimate),
    percent: job.status === 'succeeded' ? 100 : (progress?.percent ?? null),
    eta_seconds: progress?.etaSeconds ?? null,
    error: visibleError(job) || null,
  }
}

/** A job that failed without a bill was released. */
function costOf({ billed, status }: VideoJob): string | null {
  if (billed !== undefined) {
    return formatCredits(billed)
  }
  return status === 'failed' ? '0' : null
}

function lengthOf({ durationSeconds, storedDurationSeconds }: VideoJob): number | undefined {
  const text = durationSeconds || storedDurationSeconds
  return text ? Number(text) : undefined
}
