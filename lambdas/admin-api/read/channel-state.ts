import { readSwitches } from '#adapters/store/switches/read-switches.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { type AllFigures, NO_CALLS } from '#adapters/telemetry/channel-figures.ts'
import type { Channel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type Switches, switchesOf } from '#core/catalogue/switches.ts'
import type { ReadContext } from './read-context.ts'

/** Channels as they are now. */
export type ChannelState = {
  readonly config: GatewayConfig
  readonly switches: Switches
  /** Undefined if they cannot be read. */
  readonly figures: AllFigures | undefined
  /** Of video channels, by id. */
  readonly openJobs: ReadonlyMap<string, number>
}

/** DynamoDB's bound of one read of several items. */
const CHANNELS_MAX = 100

/** Reads switches, open jobs and figures, by two requests to the table. */
export async function readChannelState({ table, config: open, figures, now }: ReadContext): Promise<ChannelState> {
  const config = open()
  const video = config.channels.filter(({ provider }) => provider !== 'openai').slice(0, CHANNELS_MAX)
  const [{ switches }, items, read] = await Promise.all([
    readSwitches(table()),
    video.length === 0 ? [] : table().readItems(video.map(({ id }) => tableKeys.channel(id))),
    figures(
      config.channels.map(({ id }) => id),
      now(),
    ),
  ])
  const openJobs = video.map(({ id }, index) => [id, Math.max(0, Number(items[index]?.open ?? 0))] as const)
  return { config, switches, figures: read, openJobs: new Map(openJobs) }
}

/** How a channel does: its switch, breaker, open jobs and last minute. */
export function channelHealth({ id, provider }: Pick<Channel, 'id' | 'provider'>, state: ChannelState) {
  const { switches, figures, openJobs } = state
  const { calls, errors, p50Milliseconds, p95Milliseconds } = figures?.byChannel.get(id) ?? NO_CALLS
  return {
    id,
    disabled: switchesOf(switches.channels, id)?.enabled !== undefined,
    // A channel that was never called has a breaker that never opened.
    breaker: provider === 'openai' && figures?.breakers ? (figures.breakers.get(id) ?? ('closed' as const)) : null,
    breaker_openings: provider === 'openai' ? (figures?.breakerOpenings?.get(id) ?? null) : null,
    open_jobs: openJobs.get(id) ?? null,
    figures:
      figures?.minuteFrom === undefined
        ? null
        : { requests: calls, errors: sumOf(errors), p50_ms: p50Milliseconds, p95_ms: p95Milliseconds },
  }
}

function sumOf(errors: Readonly<Record<string, number>>): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0)
}

/**
 * The traffic of all channels. The median is that of the channels, weighted by calls; the 95th percentile is that of the slowest
 * channel. Null without figures.
 */
export function trafficOf({ figures }: ChannelState) {
  if (figures?.minuteFrom === undefined) {
    return null
  }
  const channels = [...figures.byChannel.values()]
  const calls = channels.reduce((sum, channel) => sum + channel.calls, 0)
  const errors = channels.reduce((sum, channel) => sum + sumOf(channel.errors), 0)
  const p50 = weightedMedian(
    channels.flatMap((each) => (each.p50Milliseconds === null ? [] : [[each.p50Milliseconds, each.calls]])),
  )
  const p95 = Math.max(...channels.flatMap(({ p95Milliseconds }) => p95Milliseconds ?? []))
  const minutes = figures.minutes ?? [{ at: figures.minuteFrom, calls, errors }]
  return {
    requests_per_minute: calls,
    errors_per_minute: errors,
    first_byte_ms: p50 === undefined ? null : { p50, p95 },
    minutes: minutes.map(({ at, ...minute }) => ({
      at: Math.trunc(at / 1000),
      requests: minute.calls,
      errors: minute.errors,
    })),
  }
}

function weightedMedian(values: readonly (readonly number[])[]): number | undefined {
  let left = values.reduce((sum, [, weight = 0]) => sum + weight, 0) / 2
  return values
    .toSorted(([one = 0], [other = 0]) => one - other)
    .find(([, weight = 0]) => {
      left -= weight
      return left <= 0
    })?.[0]
}
