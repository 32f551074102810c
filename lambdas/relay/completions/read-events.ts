import { UpstreamFailedError } from '#core/errors.ts'
import { readChatChoices } from '#core/relay/chat-choices.ts'
import { isEventStream } from '#core/relay/event-stream-type.ts'
import { SseEventReader } from '#core/relay/sse-events.ts'
import { readLastBytes } from '../leave-reply.ts'
import { readSuccess } from '../read-reply.ts'
import type { UpstreamReply } from '../upstream-reply.ts'

/** The largest whole answer that is taken in place of a stream. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024

/**
 * The data of each event of an answer, as it comes. An upstream that does not stream gives a whole answer: one event, then
 * `[DONE]`. Whoever stops reading leaves the rest of the answer a moment to come, so that its connection can be used again.
 * @throws UpstreamFailedError, ReplyTooLargeError, EndlessEventError, and what reading the body throws.
 */
export async function* readEvents(reply: UpstreamReply, publicModel: string): AsyncGenerator<string> {
  const { body, contentType } = reply
  if (!isEventStream(contentType)) {
    const form = { publicModel, list: 'choices' } as const
    const text = (await readSuccess(reply, { bytesMax: ANSWER_BYTES_MAX, form })).toString('utf8')
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
    const rest = reader.end()?.data
    if (rest !== undefined) {
      yield fromBytes(rest)
    }
  } finally {
    if (!isOver) {
      void readLastBytes(chunks, body)
    }
  }
}

/** Events are cut from bytes, one character for each. */
function fromBytes(data: string): string {
  return Buffer.from(data, 'latin1').toString('utf8')
}
