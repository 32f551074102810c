import type { RelayChannel } from '../catalogue/channel.ts'

/**
 * The order in which a request tries channels: lowest priority number first, and by lot among channels of one priority, so
 * that each comes first in proportion to its weight.
 *
 * With lots that depend on session and channel alone this is weighted rendezvous hashing (the logarithmic method of
 * Schindelhauer and Schomaker): a session keeps its channel in every process without any storage, and when a channel is
 * left out only the sessions of that channel move, each to its own second channel.
 * @param lotOf a number above 0 and at most 1, evenly distributed: {@link lotOfDigest} or {@link lotAtRandom}
 * @param rankOf decides between channels of one priority before the lot does, lowest first.
 */
export function orderRelayChannels(
  channels: readonly RelayChannel[],
  lotOf: (channel: RelayChannel) => number,
  rankOf: (channel: RelayChannel) => number = () => 0,
): readonly RelayChannel[] {
  if (channels.length < 2) {
    return channels
  }
  const drawn = channels.map((channel) => ({
    channel,
    rank: rankOf(channel),
    ticket: -Math.log(lotOf(channel)) / channel.weight,
  }))
  return drawn
    .sort(
      (left, right) =>
        left.channel.priority - right.channel.priority || left.rank - right.rank || left.ticket - right.ticket,
    )
    .map(({ channel }) => channel)
}

/**
 * The string whose digest is the lot of a channel within a session. The session id is the client's string and may hold
 * anything, so it comes last: neither of the other two can hold a line break.
 */
export function sessionText(session: { tenantId: string; sessionId: string }, channelId: string): string {
  return `${channelId}\n${session.tenantId}\n${session.sessionId}`
}

/** A lot from the first 48 bits of a digest, which a double holds exactly. The half keeps it away from both ends. */
export function lotOfDigest(digest: Uint8Array): number {
  const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength)
  return (view.getUint32(0) * 2 ** 16 + view.getUint16(4) + 0.5) / 2 ** 48
}

/** A lot for a request without a session. @param random numbers from 0 up to 1, 1 excluded */
export function lotAtRandom(random: () => number): number {
  return 1 - random()
}
