import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { classNameOf, firstPollWait, type UsualSeconds } from '#core/jobs/waits.ts'
import { seededTimes } from '#store/jobs/channels.ts'
import { ConditionsNotMetError, type Table, type TableWrite } from '#store/table/table.ts'

/** What a job of a simulated channel takes until it is found: four seconds at the upstream, and the wait for a poll. */
const SIMULATED_SECONDS = 10

/** As many as an estimate needs. */
const SEEDED_JOBS = 8

/** What an estimate makes of eight jobs that all took as long. */
const USUAL: UsualSeconds = { early: 8, median: SIMULATED_SECONDS }

/** Writes of one transaction of DynamoDB. */
const WRITES_PER_TRANSACTION = 100

/**
 * Lets the classes of simulated channels begin with a usual time, so that the first jobs of a new data directory show how far they are.
 * Channels whose first poll would come later by it are left out: their configuration wants them to be fast. Times that were learnt stay.
 * @param config as it was read: simulated channels have the base url `simulator`.
 */
export async function seedSimulatedTimes(
  table: Pick<Table, 'transact'>,
  { channels, models }: Pick<GatewayConfig, 'channels' | 'models'>,
  nowSeconds: number,
): Promise<void> {
  const writes = new Map<string, TableWrite>()
  for (const channel of channels) {
    if (channel.provider === 'openai' || channel.base_url !== 'simulator' || isFaster(channel)) {
      continue
    }
    for (const className of classesOf(channel, models)) {
      const times = { seconds: SIMULATED_SECONDS, jobs: SEEDED_JOBS, nowSeconds }
      writes.set(`${channel.id} ${className}`, seededTimes({ channelId: channel.id, className }, times))
    }
  }
  const all = [...writes]
  for (let first = 0; first < all.length; first += WRITES_PER_TRANSACTION) {
    try {
      await table.transact(Object.fromEntries(all.slice(first, first + WRITES_PER_TRANSACTION)))
    } catch (error) {
      if (!(error instanceof ConditionsNotMetError)) {
        throw error
      }
      // The table has learnt times of its own, such as one that outlived its data directory.
    }
  }
}

function isFaster(channel: VideoChannel): boolean {
  const middle = 0.5
  return firstPollWait(channel, middle) < firstPollWait(channel, middle, USUAL)
}

function classesOf({ models: served }: VideoChannel, models: GatewayConfig['models']): readonly string[] {
  return models.flatMap((model) => {
    const id = served[model.id]
    if (model.kind !== 'video' || id === undefined) {
      return []
    }
    const { min, max } = model.durations
    const durations = Array.from({ length: max - min + 1 }, (_, index) => min + index)
    const upstreamModels = typeof id === 'string' ? [id] : [id.text, id.image]
    return upstreamModels.flatMap((upstreamModel) =>
      durations.flatMap((duration) =>
        model.resolutions.map((resolution) => classNameOf(upstreamModel, { duration, resolution })),
      ),
    )
  })
}
