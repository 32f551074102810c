import { isTerminal } from '#core/jobs/video-job.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { count, measure } from '#platform/telemetry/measures.ts'
import { openReservations, readHolds } from '#store/due-index.ts'
import { readChannelCount, setChannelCount } from '#store/jobs/channels.ts'
import { getJobPlaces } from '#store/jobs/job-reader.ts'
import type { JobKey } from '#store/table/table-keys.ts'
import type { StepContext } from '../step-context.ts'

/**
 * Measures the open jobs and requests, and corrects the number of open jobs of each channel. These counts change inside the
 * claim and resolution transactions and cannot drift; this repairs what a restore or a manual edit did. A count that changed
 * during the recount is left alone, and so is every count when a record cannot be read or time runs out.
 * @throws RecountUnfinishedError when there are more open jobs than `hasTime` leaves time to read.
 */
export async function recountChannels(context: StepContext, hasTime: () => boolean): Promise<void> {
  const channels = context.catalogue.config.channels.filter((channel) => channel.provider !== 'openai')
  const before = new Map(
    await Promise.all(channels.map(async ({ id }) => [id, await readChannelCount(context.table, id)] as const)),
  )
  const { slots: counted, openJobs, openRequests } = await countOpen(context, hasTime)
  const allRequests = openRequests + (await countHeldRequests(context))
  // A zero is left out: an idle stage would pay for it by the hour.
  measure({ open_jobs: openJobs || undefined, open_requests: allRequests || undefined })
  const differs = [...before].some(([id, stored]) => stored !== undefined && stored.open !== (counted.get(id) ?? 0))
  if (!differs || !isSame(counted, await countAgain(context, hasTime))) {
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

/** The index lags briefly, so a correction needs two equal counts this far apart. */
const RECOUNT_PAUSE_MILLISECONDS = 2_000

async function countAgain(context: StepContext, hasTime: () => boolean): Promise<Map<string, number>> {
  await context.pause(RECOUNT_PAUSE_MILLISECONDS)
  return (await countOpen(context, hasTime)).slots
}

function isSame(left: Map<string, number>, right: Map<string, number>): boolean {
  return left.size === right.size && [...left].every(([id, open]) => right.get(id) === open)
}

/** The limit of BatchGetItem. */
const BATCH_JOBS = 100

/** Read side by side, so that the processor works while the table does: 100,000 open jobs take 6 s of CPU. */
const PARALLEL_BATCHES = 4

type OpenCount = { readonly slots: Map<string, number>; readonly openJobs: number; readonly openRequests: number }

/** There are more open jobs than time to read them. */
class RecountUnfinishedError extends Error {
  override readonly name = 'RecountUnfinishedError'
}

async function countHeldRequests({ table }: StepContext): Promise<number> {
  let open = 0
  for await (const { requests } of readHolds(table)) {
    open += requests
  }
  return open
}

async function countOpen(context: StepContext, hasTime: () => boolean): Promise<OpenCount> {
  const counted = new Map<string, number>()
  let openJobs = 0
  let openRequests = 0
  const countBatch = async (batch: readonly JobKey[]) => {
    openJobs += batch.length
    if (!hasTime()) {
      throw new RecountUnfinishedError(`no time to read more than ${openJobs} open jobs`)
    }
    for (const { channelId } of (await getJobPlaces(context.table, batch)).filter((job) => !isTerminal(job))) {
      if (channelId !== undefined) {
        counted.set(channelId, (counted.get(channelId) ?? 0) + 1)
      }
    }
  }
  let batches: JobKey[][] = [[]]
  for await (const open of openReservations(context.table)) {
    if (!('jobId' in open)) {
      openRequests += 1
      continue
    }
    batches.at(-1)?.push(open)
    if (batches.at(-1)?.length === BATCH_JOBS) {
      batches.push([])
    }
    if (batches.length > PARALLEL_BATCHES) {
      await Promise.all(batches.filter(({ length }) => length > 0).map(countBatch))
      batches = [[]]
    }
  }
  await Promise.all(batches.filter(({ length }) => length > 0).map(countBatch))
  return { slots: counted, openJobs, openRequests }
}
