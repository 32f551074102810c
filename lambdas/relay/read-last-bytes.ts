import type { UpstreamReply } from './call-upstream.ts'

/** How long an upstream that has said `[DONE]` may take to end its answer before its connection is given up. */
const LAST_BYTES_MILLISECONDS_MAX = 1_000

/** Reads an answer of which nothing is wanted any more to its end, so that its connection can be used again. Never rejects. */
export async function readLastBytes(
  chunks: AsyncIterator<Buffer>,
  body: Pick<UpstreamReply['body'], 'destroy'>,
): Promise<void> {
  const patience = setTimeout(() => body.destroy(), LAST_BYTES_MILLISECONDS_MAX).unref()
  try {
    while (!(await chunks.next()).done) {
      // What follows `[DONE]` is nobody's.
    }
  } catch {
    body.destroy()
  }
  clearTimeout(patience)
}
