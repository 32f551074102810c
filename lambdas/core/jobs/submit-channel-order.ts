import type { VideoChannel } from '../catalogue/channel.ts'

/**
 * The order in which channels are tried: lowest priority number first, and among equals a weighted draw,
 * so that each comes first in proportion to its weight. `random` gives numbers from 0 up to 1.
 */
export function orderChannels(channels: readonly VideoChannel[], random: () => number): VideoChannel[] {
  const drawn = channels.map((channel) => ({ channel, ticket: -Math.log(1 - random()) / channel.weight }))
  return drawn
    .toSorted((left, right) => left.channel.priority - right.channel.priority || left.ticket - right.ticket)
    .map(({ channel }) => channel)
}
