import * as z from 'zod'
import { UPSTREAM_ERROR_CLASSES } from '#core/measures.ts'
import { type CallSummary, RecentCalls } from './recent-calls.ts'
import { RecentTraffic } from './recent-traffic.ts'

/** What the host knows of its channels at this moment, by their ids: the last minute, and the breaker of each relay channel. */
export const channelTrafficSchema = z.object({
  channels: z.record(
    z.string(),
    z.object({
      calls: z.number(),
      errors: z.partialRecord(z.enum(UPSTREAM_ERROR_CLASSES), z.number()),
      p50Milliseconds: z.number().nullable(),
      p95Milliseconds: z.number().nullable(),
      breaker: z.enum(['closed', 'open', 'half_open']).nullable(),
    }),
  ),
})

/** The traffic of every channel that was called since the start. */
export type ChannelTraffic = z.infer<typeof channelTrafficSchema>

type Breaker = NonNullable<ChannelTraffic['channels'][string]['breaker']>

/** Watches the channels of this process from now on. @returns what describes them at a moment. */
export async function watchChannels(): Promise<() => ChannelTraffic> {
  const { provideFigures } = await import('#adapters/telemetry/current-figures.ts')
  const { observeMeasures } = await import('#adapters/telemetry/measure-observer.ts')
  const { observeUpstreams } = await import('#adapters/telemetry/upstream-observer.ts')
  const { openRelayContext } = await import('#lambdas/relay/relay-context.ts')
  const recent = new Map<string, RecentCalls>()
  const traffic = new RecentTraffic()
  observeUpstreams(({ channelId, ...fact }) => {
    const calls = recent.get(channelId) ?? new RecentCalls()
    recent.set(channelId, calls)
    calls.add(fact, Date.now())
  })
  observeMeasures((values) => traffic.add(values, Date.now()))
  const breakerOf = (id: string) => openRelayContext().breakers.shownState({ id }, Date.now())
  provideFigures((nowMilliseconds) => ({
    minuteFrom: nowMilliseconds - MINUTE_MILLISECONDS,
    byChannel: new Map([...recent].map(([id, calls]) => [id, calls.summary(nowMilliseconds)])),
    breakers: new Map([...recent.keys()].flatMap((id) => breakerEntry(id, breakerOf(id)))),
    traffic: traffic.traffic(nowMilliseconds),
  }))
  return () => describeChannels(recent, { breakerOf, nowMilliseconds: Date.now() })
}

function breakerEntry(id: string, breaker: Breaker | undefined): readonly (readonly [string, Breaker])[] {
  return breaker === undefined ? [] : [[id, breaker]]
}

const MINUTE_MILLISECONDS = 60_000

type Moment = { readonly breakerOf: (channelId: string) => Breaker | undefined; readonly nowMilliseconds: number }

function describeChannels(
  recent: ReadonlyMap<string, { summary(nowMilliseconds: number): CallSummary }>,
  { breakerOf, nowMilliseconds }: Moment,
): ChannelTraffic {
  const channels = [...recent].map(([id, calls]) => [
    id,
    { ...calls.summary(nowMilliseconds), breaker: breakerOf(id) ?? null },
  ])
  return { channels: Object.fromEntries(channels) }
}
