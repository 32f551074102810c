import { count } from '#adapters/telemetry/count.ts'
import { jobFacts } from '#adapters/telemetry/job-facts.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'

/**
 * Reports an upstream success whose result is not a video, or must not be fetched. The job fails and is not billed, while
 * the upstream may bill the operator.
 * @param reason a text of the gateway or the name of an error; never a url.
 */
export function reportRefusedResult(job: VideoJob, reason: string): void {
  logger.error('result refused', { ...jobFacts(job), reason })
  count('result_refused', { channel: job.channelId ?? 'none' })
}
