import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { UpstreamReply } from './call-upstream.ts'

/** Of the reply whose end was not read. */
export type CutReply = Pick<UpstreamReply, 'channel' | 'upstreamRequestId'>

/**
 * Says that a bound of ours, and not the upstream, ended a success before its end: the client did not get what the upstream
 * charges for. Called once for each such answer, whatever is billed for it.
 * @param bound which one it was, for the log: `bytes`, `event bytes`, `seconds`.
 */
export function reportCutAnswer({ channel, upstreamRequestId }: CutReply, bound: string): void {
  logger.error('answer cut short', { channelId: channel.id, upstreamRequestId, bound })
  count('answer_cut_short', { channel: channel.id })
}
