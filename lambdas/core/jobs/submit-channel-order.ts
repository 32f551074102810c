import type { VideoChannel } from '../catalogue/channel.ts'

/**
 * The order in which a job is offered to channels: the lowest priority number first; among equals a weighted draw, so that
 * each comes first in proportion to its weight.
 * @param random returns numbers from 0 up to 1.
 */
export function submitChannelOrder(channels: readonly VideoChannel[], random: () => number): VideoChannel[] {
  const drawn = channels.map((channel) => ({ channel, ticket: -Math.log(1 - random()) / channel.weight }))
  return drawn
    .toSorted((left, right) => left.channel.priority - right.channel.priority || left.ticket - right.ticket)
    .map(({ channel }) => channel)
}
