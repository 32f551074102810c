import { upstreamModelId } from '#core/catalogue/catalogue.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { classNameOf, detectionLagSeconds, type JobTiming, sampleSeconds } from '#core/jobs/waits.ts'
import { videoProvider } from '#core/providers/registry.ts'
import { parseJson } from '#core/providers/reply-reading.ts'
import { asError, jobFacts, logger } from '#platform/telemetry/logger.ts'
import { measure } from '#platform/telemetry/measures.ts'
import { addGenerationTime, readUsualSeconds } from '#store/jobs/channels.ts'
import { nowSeconds, type StepContext } from './step-context.ts'

/**
 * Reads how long similar jobs of the channel have taken. Submit calls this before the claim, so a slow or failing table
 * costs only the learned waits: the job then polls at the configured rhythm.
 */
export async function recallTiming(
  { request, channel }: { readonly request: VideoJobRequest; readonly channel: VideoChannel },
  { table }: Pick<StepContext, 'table'>,
): Promise<JobTiming> {
  const className = classNameOf(upstreamModelId(channel, request), request)
  try {
    return { className, usual: await readUsualSeconds(table, { channelId: channel.id, className }) }
  } catch (error) {
    logger.warn('generation times not read', { channelId: channel.id, error: asError(error) })
    return { className }
  }
}

type Finished = {
  readonly job: VideoJob
  readonly channel: VideoChannel
  /** The upstream's reply that reports success. */
  readonly text: string
  /** The wait before the poll that found the success. */
  readonly waitedSeconds: number | undefined
}

/**
 * Measures how long a finished job took and adds the time to those of similar jobs. Never fails the job: its success is
 * already recorded.
 */
export async function learnGenerationTime(finished: Finished, context: StepContext): Promise<void> {
  const { job, channel, text, waitedSeconds } = finished
  if (job.submittedAt === undefined) {
    return
  }
  const observation = {
    reportedSeconds: videoProvider(channel.provider).readGenerationSeconds(parseJson(text)),
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
    logger.warn('generation time not kept', { ...jobFacts(job), error: asError(error) })
  }
}
