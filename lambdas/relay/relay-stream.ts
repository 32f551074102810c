import { UpstreamBrokenError } from '#adapters/http/upstream-body.ts'
import type { ChatStream } from '#core/relay/chat-stream.ts'
import { EndlessEventError } from '#core/relay/sse-events.ts'
import { AnswerNotBegunError } from './answer-not-begun.ts'
import { boundWhenGone } from './bound-when-gone.ts'
import type { UpstreamReply } from './call-upstream.ts'
import { BROKEN_ANSWER, EventSender } from './event-sender.ts'
import { readLastBytes } from './read-last-bytes.ts'
import type { AnswerWriter } from './relay-request.ts'
import { type CutReply, reportCutAnswer } from './report-cut-answer.ts'

/** How a stream ended for its client: whole, broken off by the upstream, cut by our own bound, or not seen to its end. */
export type StreamEnd = 'whole' | 'broken' | 'cut' | 'abandoned'

/**
 * Relays a chat stream, event by event as it comes, and ends the answer. A comment is sent after each quarter of a minute
 * of silence. Nothing is relayed before something was generated or the answer is open, so that a failure before that can be
 * mended. When the client leaves, the upstream is read on for a bounded time, so that its usage can be billed.
 * A stream that is cut before its first byte leaves the answer unopened.
 * @throws AnswerNotBegunError when the upstream breaks off, ends, or reports an error before the first byte was relayed.
 */
export async function relayStream(
  reply: Pick<UpstreamReply, 'body' | 'completed' | 'failed'> & CutReply,
  stream: ChatStream,
  answer: AnswerWriter,
): Promise<StreamEnd> {
  const sender = new EventSender(answer)
  sender.keepAlive()
  const stopWaiting = boundWhenGone(reply.body, answer.gone)
  const client = { sender, answer, held: '' }
  try {
    return finish(await pump(reply, stream, client), stream, client)
  } catch (error) {
    reply.failed()
    throw error
  } finally {
    sender.stop()
    stopWaiting()
  }
}

type Client = {
  readonly sender: EventSender
  readonly answer: AnswerWriter
  /** What came before anything of an answer, such as comments and roles: nothing of it binds the client to this upstream. */
  held: string
}

/** More than this is not held back: an upstream may send nothing at great length. */
const HELD_BYTES_MAX = 64 * 1024

/** @returns how the reading ended: at the end of the stream, or before it. */
async function pump(
  reply: Pick<UpstreamReply, 'body' | 'completed'> & CutReply,
  stream: ChatStream,
  client: Client,
): Promise<'over' | 'broken' | 'cut'> {
  const { body, completed } = reply
  const { sender, answer } = client
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      const bytes = next.value.toString('latin1')
      const due = client.held + stream.push(bytes)
      refuseBeforeTheFirstByte(stream, answer)
      const isHeld = !(stream.hasBegun || answer.isOpen) && due.length <= HELD_BYTES_MAX
      client.held = isHeld ? due : ''
      if (due !== '' && !isHeld && !sender.write(due === bytes ? next.value : Buffer.from(due, 'latin1'))) {
        await sender.drained()
      }
      if (stream.state === 'done' || stream.state === 'failed') {
        if (stream.state === 'done' && stream.hasBegun) {
          completed()
        }
        void readLastBytes(chunks, body)
        return 'over'
      }
    }
    return 'over'
  } catch (error) {
    body.destroy()
    if (!(error instanceof UpstreamBrokenError || error instanceof EndlessEventError)) {
      throw error
    }
    if (error instanceof EndlessEventError && error.hasData) {
      reportCutAnswer(reply, 'event bytes')
      return 'cut'
    }
    if (!isBound(stream, answer)) {
      throw new AnswerNotBegunError('the upstream broke off before its first byte', { cause: error })
    }
    return 'broken'
  }
}

/**
 * Whether no other upstream may answer any more. A client that has left gets no second one, and owes its prompt where this
 * one was at work on it.
 */
function isBound(stream: ChatStream, answer: AnswerWriter): boolean {
  return answer.isOpen || stream.hasBegun || (answer.gone.aborted && stream.hasChoices)
}

/** An upstream may answer 200 and then say, before anything was generated, that it has failed. The client is told so by a status. */
function refuseBeforeTheFirstByte(stream: ChatStream, answer: AnswerWriter): void {
  if (stream.state === 'failed' && !answer.isOpen && !stream.hasGenerated) {
    throw new AnswerNotBegunError('the upstream reported an error before its first byte')
  }
}

function finish(read: 'over' | 'broken' | 'cut', stream: ChatStream, { sender, answer, held }: Client): StreamEnd {
  if (read === 'cut') {
    if (answer.isOpen) {
      sender.end(`data: ${BROKEN_ANSWER}\n\n`)
    }
    return 'cut'
  }
  // The half of an event is of no use to anyone, whether the connection was cut or closed well.
  const rest = read === 'broken' ? undefined : stream.end()
  refuseBeforeTheFirstByte(stream, answer)
  if (!isBound(stream, answer)) {
    throw new AnswerNotBegunError('the upstream ended before its first byte')
  }
  // A usage comes last, so whatever is missing then was not meant to come.
  const isAtEnd = rest !== undefined && (stream.state === 'finished' || stream.usage !== undefined)
  const isWhole = stream.hasBegun && (stream.state === 'done' || isAtEnd)
  const due = held + (rest ?? '')
  if (due !== '') {
    sender.write(Buffer.from(due, 'latin1'))
  }
  if (stream.state === 'failed') {
    sender.end()
    return 'broken'
  }
  const separator = rest === undefined || rest === '' ? '' : '\n\n'
  sender.end(isWhole ? '' : `${separator}data: ${BROKEN_ANSWER}\n\n`)
  return isWhole ? 'whole' : answer.gone.aborted ? 'abandoned' : 'broken'
}
