import { readUsualSeconds } from '#adapters/store/jobs/generation-times.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { upstreamModelId } from '#core/catalogue/catalogue.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { classNameOf, type JobTiming } from '#core/jobs/generation-times.ts'
import type { VideoJobRequest } from '#core/parameters/video-parameters.ts'
import type { StepContext } from '../step-context.ts'

/**
 * What the channel's jobs like this one have been taking. Asked before anything is claimed or posted, so that a table that
 * answers late or not costs nothing but the start values.
 */
export async function recallTiming(
  { request, channel }: { readonly request: VideoJobRequest; readonly channel: VideoChannel },
  { table }: Pick<StepContext, 'table'>,
): Promise<JobTiming> {
  const className = classNameOf(upstreamModelId(channel, request), request)
  try {
    return { className, usual: await readUsualSeconds(table, { channelId: channel.id, className }) }
  } catch (error) {
    logger.warn('generation times not read', {
      channelId: channel.id,
      error: error instanceof Error ? error : undefined,
    })
    return { className }
  }
}
