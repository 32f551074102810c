import type { StepContext } from '#adapters/jobs/step-context.ts'
import { readChannelCount, setChannelCount } from '#adapters/stores/channel-load.ts'
import { openReservations } from '#adapters/stores/due-index.ts'
import { getVideoJob } from '#adapters/stores/job-reader.ts'
import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { isTerminal } from '#core/jobs/video-job.ts'

/**
 * Counts the jobs that hold a slot of each channel and mends a count that differs. Counts move inside the claim and
 * resolution transactions and cannot drift; this finds what a restore or a hand edit did. A count that moved while
 * we counted is left alone, and so is every count when a record cannot be read: half a count is none.
 */
export async function recountChannels(context: StepContext): Promise<void> {
  const channels = context.catalogue.config.channels.filter((channel) => channel.provider !== 'openai')
  const before = new Map(
    await Promise.all(channels.map(async ({ id }) => [id, await readChannelCount(context.table, id)] as const)),
  )
  const counted = await countSlots(context)
  const differs = [...before].some(([id, stored]) => stored !== undefined && stored.open !== (counted.get(id) ?? 0))
  if (!differs || !isSame(counted, await countAgain(context))) {
    return
  }
  for (const [channelId, stored] of before) {
    const open = counted.get(channelId) ?? 0
    if (
      stored !== undefined &&
      stored.open !== open &&
      (await setChannelCount(context.table, channelId, { ...stored, open }))
    ) {
      logger.warn('channel recounted', { channelId, was: stored.open, open })
      count('channel_recounted', { channel: channelId })
    }
  }
}

/** The index lags by moments: a count that is to correct another is taken twice. */
const RECOUNT_PAUSE_MILLISECONDS = 2_000

async function countAgain(context: StepContext): Promise<Map<string, number>> {
  await context.pause(RECOUNT_PAUSE_MILLISECONDS)
  return await countSlots(context)
}

function isSame(left: Map<string, number>, right: Map<string, number>): boolean {
  return left.size === right.size && [...left].every(([id, open]) => right.get(id) === open)
}

async function countSlots(context: StepContext): Promise<Map<string, number>> {
  const counted = new Map<string, number>()
  for await (const open of openReservations(context.table)) {
    const job = 'jobId' in open ? await getVideoJob(context.table, open.tenantId, open.jobId) : undefined
    if (job?.channelId !== undefined && !isTerminal(job)) {
      counted.set(job.channelId, (counted.get(job.channelId) ?? 0) + 1)
    }
  }
  return counted
}
