import type { UpstreamReply } from './call-upstream.ts'

/** How long an upstream is read on for its usage when the client has left. */
export const ABANDONED_MILLISECONDS_MAX = 30_000

/**
 * Ends an answer that is read for its usage alone, when its time is over.
 * @returns what to call when it was read.
 */
export function boundWhenGone(body: Pick<UpstreamReply['body'], 'destroy'>, gone: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined
  const start = () => {
    timer = setTimeout(() => body.destroy(), ABANDONED_MILLISECONDS_MAX)
  }
  if (gone.aborted) {
    start()
  } else {
    gone.addEventListener('abort', start, { once: true })
  }
  return () => {
    clearTimeout(timer)
    gone.removeEventListener('abort', start)
  }
}
