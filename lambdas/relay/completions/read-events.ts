import { UpstreamFailedError } from '#core/errors.ts'
import { readChatChoices } from '#core/relay/chat-choices.ts'
import { ChatStreamBrokenError } from '#core/relay/chat-stream-broken-error.ts'
import { isEventStream } from '#core/relay/event-stream-type.ts'
import { isHalfEvent } from '#core/relay/half-event.ts'
import type { ReplyRules } from '#core/relay/reply-members.ts'
import { SseEventReader } from '#core/relay/sse-events.ts'
import { readLastBytes } from '../leave-reply.ts'
import { readSuccess } from '../read-reply.ts'
import type { UpstreamReply } from '../upstream-reply.ts'
import { REPLY_BYTES_MAX } from './whole-completion.ts'

/**
 * The data of each event of a reply, as it arrives. An upstream that does not stream sends a whole reply: one event, then
 * `[DONE]`. When the reader stops early, the rest of the reply has a moment to arrive, so that the connection can be used
 * again.
 * @throws ChatStreamBrokenError for a stream that ends inside an event; UpstreamFailedError, ReplyTooLargeError, EndlessEventError, and what
 *   reading the body throws.
 */
export async function* readEvents(reply: UpstreamReply, rules: ReplyRules): AsyncGenerator<string> {
  const { body, contentType } = reply
  if (!isEventStream(contentType)) {
    const form = { ...rules, list: 'choices' } as const
    const text = (await readSuccess(reply, { bytesMax: REPLY_BYTES_MAX, form })).toString('utf8')
    if (readChatChoices(text) === undefined) {
      throw new UpstreamFailedError({ cause: new TypeError('the answer is not a chat completion') })
    }
    yield text
    yield '[DONE]'
    return
  }
  const reader = new SseEventReader()
  const chunks = body[Symbol.asyncIterator]()
  let isOver = false
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      for (const { data } of reader.push(next.value.toString('latin1'))) {
        if (data !== undefined) {
          yield fromBytes(data)
        }
      }
    }
    isOver = true
    const rest = reader.end()
    if (rest !== undefined && isHalfEvent(rest)) {
      // As in a chat stream: the usage may have been in the missing half.
      throw new ChatStreamBrokenError()
    }
    if (rest?.data !== undefined) {
      yield fromBytes(rest.data)
    }
  } finally {
    if (!isOver) {
      void readLastBytes(chunks, body)
    }
  }
}

/** Decodes an event, which has one character for each byte. */
function fromBytes(data: string): string {
  return Buffer.from(data, 'latin1').toString('utf8')
}
