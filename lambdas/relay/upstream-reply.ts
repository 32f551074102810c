import type { RelayChannel } from '#core/catalogue/channel.ts'
import type { CredentialFilter } from '#core/redaction.ts'
import type { HttpResponse } from '#platform/http/send-once.ts'
import { countUpstreamError } from '#upstream/measures.ts'
import type { AdmittedCall } from './breakers.ts'
import type { TakenReply } from './call-channel.ts'
import { upstreamRequestIdOf } from './judge-reply.ts'

/** An upstream's reply that is relayed: a 2xx, or a 4xx about the request. */
export type UpstreamReply = {
  readonly channel: RelayChannel
  readonly status: number
  readonly contentType: string | undefined
  /** The upstream's own id of the request. */
  readonly upstreamRequestId: string | undefined
  /** Channels that were tried for this request, this one and those that failed included. */
  readonly attempts: number
  /**
   * Iterating throws ResponseBrokenError when the reply breaks off; the breaker hears of that without the reader. A reader
   * that stops early destroys the body.
   */
  readonly body: HttpResponse['body']
  /** Removes the keys that the upstream was called with from its words. */
  readonly withoutCredentials: CredentialFilter
  /**
   * Tells the breaker what only the reader can see: a stream had no end, the upstream reported its own failure in it, or
   * (`timeout`) the reply was not complete in time. Does nothing when the reader held the upstream up and the reply then
   * broke off, because the reader may have caused the break. May be called after the last byte, and more than once.
   */
  failed(how?: 'odd_body' | 'timeout'): void
  /**
   * Tells the breaker that the reader has the whole reply, such as a stream after its `[DONE]`, even if the upstream keeps
   * the connection open. May be called after the last byte, and more than once.
   */
  completed(): void
}

/** The upstream failed before anything of its reply reached the client: another channel may still take the request. */
export class NothingRelayedError extends Error {
  override readonly name = 'NothingRelayedError'
}

/** True for a 2xx; anything else says something about the request and is relayed as it is. */
export function isSuccess({ status }: Pick<UpstreamReply, 'status'>): boolean {
  return status >= 200 && status < 300
}

type Taken = Pick<UpstreamReply, 'channel' | 'attempts'> & {
  readonly admitted: AdmittedCall
  readonly nowMilliseconds: () => number
}

/** The reply of a channel, whose end and whose reader report to the channel's breaker. */
export function openReply(reply: TakenReply, { channel, attempts, admitted, nowMilliseconds }: Taken): UpstreamReply {
  const { status, headers, body, withoutCredentials } = reply
  let isComplete = false
  let isCounted = false
  let wasHeldUp = false
  const fail = (errorClass: 'broken_answer' | 'odd_body' | 'timeout') => {
    admitted.failed(nowMilliseconds())
    if (!isCounted) {
      isCounted = true
      countUpstreamError(errorClass, channel.id)
    }
  }
  admitted.answered()
  body.onceOver((end) => {
    if (isComplete || end === 'whole') {
      admitted.completed()
    } else if (end === 'broken') {
      fail('broken_answer')
    } else {
      wasHeldUp = end === 'held_up'
      admitted.undecided()
    }
  })
  return {
    channel,
    attempts,
    status,
    contentType: headers['content-type'],
    upstreamRequestId: upstreamRequestIdOf(headers),
    body,
    withoutCredentials,
    failed: (how = 'odd_body') => {
      if (!wasHeldUp) {
        fail(how)
      }
    },
    completed: () => {
      isComplete = true
      admitted.completed()
    },
  }
}
