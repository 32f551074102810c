import type { Channel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { type AllFigures, NO_CALLS } from '#core/measures.ts'
import { readSwitches } from '#store/switches.ts'
import { tableKeys } from '#store/table/table-keys.ts'
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

/** What clients of all tenants did; null where it is not known. */
export function trafficOf({ figures }: Pick<ChannelState, 'figures'>) {
  const traffic = figures?.traffic
  if (traffic === undefined) {
    return null
  }
  const { minuteFrom, requests, errors, p50Milliseconds: p50, p95Milliseconds: p95, minutes } = traffic
  return {
    from: Math.trunc(minuteFrom / 1000),
    requests_per_minute: requests,
    errors_per_minute: errors,
    first_byte_ms: p50 === null || p95 === null ? null : { p50, p95 },
    minutes: minutes.map(({ at, ...minute }) => ({ at: Math.trunc(at / 1000), ...minute })),
  }
}

/** Begin of the minute that the figures of channels describe, in Unix seconds; null without figures. */
export function figuresFrom({ figures }: Pick<ChannelState, 'figures'>): number | null {
  return figures?.minuteFrom === undefined ? null : Math.trunc(figures.minuteFrom / 1000)
}
