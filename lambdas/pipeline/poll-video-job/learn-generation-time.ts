import { reportedGenerationSeconds } from '#adapters/providers/reported-generation-time.ts'
import { addGenerationTime } from '#adapters/store/jobs/generation-times.ts'
import { jobFacts } from '#adapters/telemetry/job-facts.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { measure } from '#adapters/telemetry/measure.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { detectionLagSeconds, sampleSeconds } from '#core/jobs/generation-times.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { nowSeconds, type StepContext } from '../step-context.ts'

type Finished = {
  readonly job: VideoJob
  readonly channel: VideoChannel
  /** The upstream's success answer. */
  readonly text: string
  /** The wait before the poll that found it. */
  readonly waitedSeconds: number | undefined
}

/** Measures a finished job, and lets the next jobs of the same class profit from it. Never fails the job, whose success is recorded by now. */
export async function learnGenerationTime(finished: Finished, context: StepContext): Promise<void> {
  const { job, channel, text, waitedSeconds } = finished
  if (job.submittedAt === undefined) {
    return
  }
  const observation = {
    reportedSeconds: reportedGenerationSeconds(channel, text),
    elapsedSeconds: context.nowMilliseconds() / 1000 - job.submittedAt,
    waitedSeconds,
  }
  const seconds = sampleSeconds(observation)
  const times = { generation_seconds: seconds, detection_lag_seconds: detectionLagSeconds(observation) }
  measure(times, { model: job.model, channel: channel.id })
  if (job.timing === undefined || seconds === undefined) {
    return
  }
  try {
    const key = { channelId: channel.id, className: job.timing.className }
    await addGenerationTime(context.table, key, { seconds, nowSeconds: nowSeconds(context) })
  } catch (error) {
    logger.warn('generation time not kept', {
      ...jobFacts(job),
      error: error instanceof Error ? error : undefined,
    })
  }
}
