import { count } from '#adapters/telemetry/count.ts'
import { jobFacts } from '#adapters/telemetry/job-facts.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'

/**
 * Says that an upstream reports a success whose result is no video, or may not be fetched: the job fails and is not billed,
 * while the upstream may bill the operator.
 * @param reason words of ours, or the name of an error; never a url.
 */
export function reportRefusedResult(job: VideoJob, reason: string): void {
  logger.error('result refused', { ...jobFacts(job), reason })
  count('result_refused', { channel: job.channelId ?? 'none' })
}
