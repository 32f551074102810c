import type { VideoJob } from '#core/jobs/video-job.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'

/**
 * Reports an upstream success whose result is not a video, or must not be fetched. The job fails and is not billed, while
 * the upstream may bill the operator.
 * @param reason a text of the gateway or the name of an error; never a url.
 */
export function reportRefusedResult(job: VideoJob, reason: string): void {
  logger.error('result refused', { ...jobFacts(job), reason })
  count('result_refused', { channel: job.channelId ?? 'none' })
}
