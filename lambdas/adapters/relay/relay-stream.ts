import type { ChatStream } from '#core/relay/chat-stream.ts'
import { EndlessEventError } from '#core/relay/sse-events.ts'
import { AnswerNotBegunError } from './answer-not-begun.ts'
import { boundWhenGone } from './bound-when-gone.ts'
import type { UpstreamReply } from './call-upstream.ts'
import { BROKEN_ANSWER, EventSender } from './event-sender.ts'
import { readLastBytes } from './read-last-bytes.ts'
import type { AnswerWriter } from './relay-request.ts'
import { UpstreamBrokenError } from './upstream-body.ts'

/** How a stream ended for its client: whole, broken off by the upstream, or not seen to its end. */
export type StreamEnd = 'whole' | 'broken' | 'abandoned'

/**
 * Relays a chat stream, event by event as it comes, and ends the answer. A comment is sent after each quarter of a minute
 * of silence. When the client leaves, the upstream is read on for a bounded time, so that its usage can be billed.
 * @throws AnswerNotBegunError when the upstream breaks off, ends, or reports an error before the first byte was relayed.
 */
export async function relayStream(
  reply: Pick<UpstreamReply, 'body' | 'completed' | 'failed'>,
  stream: ChatStream,
  answer: AnswerWriter,
): Promise<StreamEnd> {
  const sender = new EventSender(answer)
  sender.keepAlive()
  const stopWaiting = boundWhenGone(reply.body, answer.gone)
  try {
    const isCut = await pump(reply, stream, { sender, answer })
    return finish(isCut, stream, { sender, answer })
  } catch (error) {
    reply.failed()
    throw error
  } finally {
    sender.stop()
    stopWaiting()
  }
}

type Client = { readonly sender: EventSender; readonly answer: AnswerWriter }

/** @returns whether the upstream broke off. */
async function pump(
  { body, completed }: Pick<UpstreamReply, 'body' | 'completed'>,
  stream: ChatStream,
  { sender, answer }: Client,
): Promise<boolean> {
  const chunks = body[Symbol.asyncIterator]()
  let early = ''
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      const bytes = next.value.toString('latin1')
      const relayed = stream.push(bytes)
      refuseBeforeTheFirstByte(stream, answer)
      const due = early + relayed
      // Comments before the first event with data are no answer yet.
      early = stream.hasData || answer.isOpen ? '' : due
      if (due !== '' && early === '' && !sender.write(due === bytes ? next.value : Buffer.from(due, 'latin1'))) {
        await sender.drained()
      }
      if (stream.state === 'done' || stream.state === 'failed') {
        if (stream.state === 'done') {
          completed()
        }
        void readLastBytes(chunks, body)
        return false
      }
    }
    return false
  } catch (error) {
    body.destroy()
    if (!(error instanceof UpstreamBrokenError || error instanceof EndlessEventError)) {
      throw error
    }
    if (!answer.isOpen) {
      throw new AnswerNotBegunError('the upstream broke off before its first byte', { cause: error })
    }
    return true
  }
}

/** An upstream may answer 200 and say in its first event that it has failed. The client is told so by a status. */
function refuseBeforeTheFirstByte(stream: ChatStream, answer: AnswerWriter): void {
  if (stream.state === 'failed' && !answer.isOpen && stream.relayedTextBytes === 0) {
    throw new AnswerNotBegunError('the upstream reported an error before its first byte')
  }
}

function finish(isCut: boolean, stream: ChatStream, { sender, answer }: Client): StreamEnd {
  // The half of an event is of no use to anyone.
  const rest = isCut ? '' : stream.end()
  refuseBeforeTheFirstByte(stream, answer)
  // A usage comes last, so whatever is missing then was not meant to come.
  const isWhole = stream.state === 'done' || (!isCut && (stream.state === 'finished' || stream.usage !== undefined))
  if (!(stream.hasData || answer.isOpen)) {
    throw new AnswerNotBegunError('the upstream ended before its first byte')
  }
  if (rest !== '') {
    sender.write(Buffer.from(rest, 'latin1'))
  }
  if (stream.state === 'failed') {
    sender.end()
    return 'broken'
  }
  sender.end(isWhole ? '' : `${rest === '' ? '' : '\n\n'}data: ${BROKEN_ANSWER}\n\n`)
  return isWhole ? 'whole' : answer.gone.aborted ? 'abandoned' : 'broken'
}
