import type { UpstreamErrorClass } from '#core/telemetry/upstream-error-class.ts'

/** What one channel did in one minute. */
export type ChannelFigures = {
  /** Calls of the upstream: relayed requests, submits, polls and cancels. */
  readonly calls: number
  readonly errors: Readonly<Partial<Record<UpstreamErrorClass, number>>>
  /** From the begin of a call to the head of its reply, or to its failure; null without a call. */
  readonly p50Milliseconds: number | null
  readonly p95Milliseconds: number | null
}

/** The figures of every channel, and the minute that they describe. */
export type AllFigures = {
  /** Begin of the minute, in Unix milliseconds; undefined if there are no figures. */
  readonly minuteFrom: number | undefined
  readonly byChannel: ReadonlyMap<string, ChannelFigures>
  /** State of the breaker by channel; undefined where every instance has breakers of its own. */
  readonly breakers: ReadonlyMap<string, string> | undefined
}

/** A channel without traffic. */
export const NO_CALLS: ChannelFigures = { calls: 0, errors: {}, p50Milliseconds: null, p95Milliseconds: null }

/** The errors in one cell, the most frequent class first, such as `3 (2 timeout, 1 server_error)`. */
export function errorsText(errors: ChannelFigures['errors']): string {
  const counted = Object.entries(errors).filter(([, count]) => count > 0)
  const all = counted.reduce((sum, [, count]) => sum + count, 0)
  const classes = counted.toSorted(([, left], [, right]) => right - left).map(([name, count]) => `${count} ${name}`)
  return all === 0 ? '0' : `${all} (${classes.join(', ')})`
}

/** The latency in one cell, such as `120 / 340 ms`: the median and the 95th percentile; null without calls. */
export function latencyText({ p50Milliseconds, p95Milliseconds }: ChannelFigures): string | null {
  return p50Milliseconds === null || p95Milliseconds === null
    ? null
    : `${Math.round(p50Milliseconds)} / ${Math.round(p95Milliseconds)} ms`
}
