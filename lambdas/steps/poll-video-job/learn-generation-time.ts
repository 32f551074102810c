import { nowSeconds, type StepContext } from '#adapters/jobs/step-context.ts'
import { reportedGenerationSeconds } from '#adapters/providers/reported-generation-time.ts'
import { addGenerationTime } from '#adapters/stores/generation-times.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { sampleSeconds } from '#core/jobs/generation-times.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'

type Finished = {
  readonly job: VideoJob
  readonly channel: VideoChannel
  /** The upstream's success answer. */
  readonly text: string
  /** The wait before the poll that found it. */
  readonly waitedSeconds: number | undefined
}

/** Lets the next jobs of the same class profit from this one. Never fails the job, whose success is recorded by now. */
export async function learnGenerationTime(finished: Finished, context: StepContext): Promise<void> {
  const { job, channel, text, waitedSeconds } = finished
  if (job.timing === undefined || job.submittedAt === undefined) {
    return
  }
  const seconds = sampleSeconds({
    reportedSeconds: reportedGenerationSeconds(channel, text),
    elapsedSeconds: context.nowMilliseconds() / 1000 - job.submittedAt,
    waitedSeconds,
  })
  if (seconds === undefined) {
    return
  }
  try {
    const key = { channelId: channel.id, className: job.timing.className }
    await addGenerationTime(context.table, key, { seconds, nowSeconds: nowSeconds(context) })
  } catch (error) {
    logger.warn('generation time not kept', {
      jobId: job.jobId,
      channelId: channel.id,
      error: error instanceof Error ? error : undefined,
    })
  }
}
