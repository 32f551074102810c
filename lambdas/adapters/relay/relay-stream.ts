import type { ChatStream } from '#core/relay/chat-stream.ts'
import type { UpstreamReply } from './call-upstream.ts'
import { BROKEN_ANSWER, EventSender } from './event-sender.ts'
import { readLastBytes } from './read-last-bytes.ts'
import type { AnswerWriter } from './relay-request.ts'

/** How long an upstream is read on for its usage when the client has left. */
export const ABANDONED_MILLISECONDS_MAX = 30_000

/** How a stream ended for its client: whole, broken off by the upstream, or not seen to its end. */
export type StreamEnd = 'whole' | 'broken' | 'abandoned'

/** The upstream broke off before anything of its answer reached the client: another channel may still answer. */
export class StreamNotBegunError extends Error {
  override readonly name = 'StreamNotBegunError'
}

/**
 * Relays a chat stream, event by event as it comes, and ends the answer. A comment is sent after each quarter of a minute
 * of silence. When the client leaves, the upstream is read on for a bounded time, so that its usage can be billed.
 * @throws StreamNotBegunError when the upstream breaks off before the first byte was relayed.
 */
export async function relayStream(
  { body }: Pick<UpstreamReply, 'body'>,
  stream: ChatStream,
  answer: AnswerWriter,
): Promise<StreamEnd> {
  const sender = new EventSender(answer)
  sender.keepAlive()
  const stopWaiting = bound(body, answer.gone)
  try {
    const isCut = await pump(body, stream, { sender, answer })
    return finish({ isCut, stream, sender, answer })
  } finally {
    sender.stop()
    stopWaiting()
  }
}

/** @returns whether the upstream broke off. */
type Client = { readonly sender: EventSender; readonly answer: AnswerWriter }

async function pump(body: UpstreamReply['body'], stream: ChatStream, { sender, answer }: Client): Promise<boolean> {
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      const bytes = next.value.toString('latin1')
      const relayed = stream.push(bytes)
      if (relayed !== '') {
        const hasRoom = sender.write(relayed === bytes ? next.value : Buffer.from(relayed, 'latin1'))
        if (!hasRoom) {
          await sender.drained()
        }
      }
      if (stream.state === 'done' || stream.state === 'failed') {
        void readLastBytes(chunks, body)
        return false
      }
    }
    return false
  } catch (error) {
    body.destroy()
    if (!answer.isOpen) {
      throw new StreamNotBegunError('the upstream broke off before its first byte', { cause: error })
    }
    return true
  }
}

function finish({ isCut, stream, sender, answer }: Client & { isCut: boolean; stream: ChatStream }): StreamEnd {
  // The half of an event is of no use to anyone.
  const rest = isCut ? '' : stream.end()
  if (rest !== '') {
    sender.write(Buffer.from(rest, 'latin1'))
  }
  if (stream.state === 'failed') {
    sender.end()
    return 'broken'
  }
  // A usage comes last, so whatever is missing then was not meant to come.
  const isWhole = stream.state === 'done' || (!isCut && (stream.state === 'finished' || stream.usage !== undefined))
  sender.end(isWhole ? '' : `${rest === '' ? '' : '\n\n'}data: ${BROKEN_ANSWER}\n\n`)
  return isWhole ? 'whole' : answer.gone.aborted ? 'abandoned' : 'broken'
}

/** Ends an upstream that is read for its usage alone, when its time is over. */
function bound(body: UpstreamReply['body'], gone: AbortSignal): () => void {
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
