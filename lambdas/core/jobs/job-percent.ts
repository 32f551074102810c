import type { VideoJob } from './video-job.ts'

/** How far an open job is. Only a job that has succeeded is at 100. */
export type JobPercent = {
  /** Whole, from 0 to 100. */
  readonly percent: number
  /** Whole seconds until the usual end of such a job; absent if it is unknown or over. */
  readonly etaSeconds?: number | undefined
}

type Job = Pick<VideoJob, 'status' | 'finishedAt' | 'submittedAt' | 'timing' | 'upstreamPercent'>

const OPEN_MAX = 99

/** An estimate reaches this at the usual time, and approaches the next bound as long as the job takes longer. */
const ESTIMATE = { atMedian: 90, max: 98 }

/** Covers the time between a poll and its write, and the difference of two clocks. */
const SLACK_SECONDS = 5

/**
 * How far a job is: what its upstream says, or else what the usual times of its class say. For one record and its successors the
 * percentage never decreases with time. Undefined before the upstream has accepted the job, if nothing is known, and for a failed job.
 */
export function jobPercent(job: Job, nowSeconds: number): JobPercent | undefined {
  if (job.status !== 'processing') {
    return job.status === 'succeeded' ? { percent: 100 } : undefined
  }
  if (job.finishedAt !== undefined) {
    return { percent: OPEN_MAX }
  }
  const percent = openPercent(job, nowSeconds)
  return percent === undefined ? undefined : { percent, etaSeconds: etaSeconds(job, nowSeconds) }
}

function openPercent(job: Job, nowSeconds: number): number | undefined {
  const reported = job.upstreamPercent
  if (reported === undefined) {
    return estimatedPercent(job, nowSeconds)
  }
  // Readers may have seen estimates until the first report, so no later percentage is below them.
  const { percent, since } = reported
  const seen = since === undefined ? undefined : estimatedPercent(job, since + SLACK_SECONDS)
  return Math.min(OPEN_MAX, Math.max(Math.trunc(percent), seen ?? 0))
}

function estimatedPercent(job: Job, atSeconds: number): number | undefined {
  const median = job.timing?.usual?.median
  if (median === undefined) {
    return undefined
  }
  const { atMedian, max } = ESTIMATE
  const share = elapsedSeconds(job, atSeconds) / median
  return Math.trunc(share <= 1 ? atMedian * share : atMedian + (max - atMedian) * (1 - Math.exp(1 - share)))
}

function etaSeconds(job: Job, nowSeconds: number): number | undefined {
  const median = job.timing?.usual?.median
  const left = median === undefined ? undefined : Math.ceil(median - elapsedSeconds(job, nowSeconds))
  return left === undefined || left < 0 ? undefined : left
}

function elapsedSeconds({ submittedAt }: Job, atSeconds: number): number {
  return submittedAt === undefined ? 0 : Math.max(0, atSeconds - submittedAt)
}
