import type { ClientTraffic, UpstreamErrorClass } from '#core/measures.ts'

/** What one channel did in one minute. */
export type ChannelFigures = {
  /** Calls of the upstream: relayed requests, submits, polls and cancels. */
  readonly calls: number
  readonly errors: Readonly<Partial<Record<UpstreamErrorClass, number>>>
  /** From the begin of a call to the head of its reply, or to its failure; null without a call. */
  readonly p50Milliseconds: number | null
  readonly p95Milliseconds: number | null
}

/** The figures of every channel and of the clients, and the minutes that they describe. */
export type AllFigures = {
  /** Begin of the minute, in Unix milliseconds; undefined if there are no figures. */
  readonly minuteFrom: number | undefined
  readonly byChannel: ReadonlyMap<string, ChannelFigures>
  /** State of the breaker by channel; undefined where every instance has breakers of its own. */
  readonly breakers: ReadonlyMap<string, 'closed' | 'open' | 'half_open'> | undefined
  /** How often the breakers of a channel opened in the last ten minutes, over all instances; undefined where `breakers` says more. */
  readonly breakerOpenings?: ReadonlyMap<string, number> | undefined
  /** Undefined where it is not known. */
  readonly traffic?: ClientTraffic | undefined
}

/** A channel without traffic. */
export const NO_CALLS: ChannelFigures = { calls: 0, errors: {}, p50Milliseconds: null, p95Milliseconds: null }
