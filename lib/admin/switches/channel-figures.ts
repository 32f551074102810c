import type { ChannelFigures } from '#adapters/telemetry/channel-figures.ts'

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
