import { logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import type { ClientResponse } from './client-response.ts'
import type { UpstreamReply } from './upstream-reply.ts'

/** How long a reply is read on for its usage after the client has left. */
export const ABANDONED_MILLISECONDS_MAX = 30_000

/** How long an upstream that has said `[DONE]` may take to end its reply before the connection is closed. */
const LAST_BYTES_MILLISECONDS_MAX = 1_000

type Destroyable = Pick<UpstreamReply['body'], 'destroy'>

/**
 * Destroys a reply that is read for its usage alone: {@link ABANDONED_MILLISECONDS_MAX} after the client has left, or as soon as the
 * process ends.
 * @returns a function to call when the reply was read.
 */
export function boundWhenGone(
  body: Destroyable,
  { gone, ending }: Pick<ClientResponse, 'gone' | 'ending'>,
): () => void {
  let timer: NodeJS.Timeout | undefined
  const leave = () => body.destroy()
  const start = () => {
    timer = setTimeout(leave, ABANDONED_MILLISECONDS_MAX)
  }
  ending?.addEventListener('abort', leave, { once: true })
  if (gone.aborted) {
    start()
  } else {
    gone.addEventListener('abort', start, { once: true })
  }
  return () => {
    clearTimeout(timer)
    gone.removeEventListener('abort', start)
    ending?.removeEventListener('abort', leave)
  }
}

/** Reads the rest of a reply that is complete for its reader, so that the connection can be used again. Never rejects. */
export async function readLastBytes(chunks: AsyncIterator<Buffer>, body: Destroyable): Promise<void> {
  const patience = setTimeout(() => body.destroy(), LAST_BYTES_MILLISECONDS_MAX).unref()
  try {
    while (!(await chunks.next()).done) {
      // Nothing after `[DONE]` counts.
    }
  } catch {
    body.destroy()
  }
  clearTimeout(patience)
}

/** A reply whose end was not read. */
export type CutReply = Pick<UpstreamReply, 'channel' | 'upstreamRequestId'>

/**
 * Logs and counts a success that the gateway's own bound cut short: the client did not get what the upstream charges for.
 * To be called once for each such reply, whatever is billed for it.
 * @param bound the bound that cut it, for the log.
 */
export function reportCutReply(
  { channel, upstreamRequestId }: CutReply,
  bound: 'bytes' | 'event bytes' | 'seconds',
): void {
  logger.error('answer cut short', { channelId: channel.id, upstreamRequestId, bound })
  count('answer_cut_short', { channel: channel.id })
}
