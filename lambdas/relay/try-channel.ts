import type { UpstreamAnswer } from '#adapters/http/upstream-attempt.ts'
import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { countUpstreamError } from '#adapters/telemetry/upstream-errors.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import type { CredentialFilter } from '#core/without-credentials.ts'
import type { AdmittedCall } from './breakers.ts'
import { type ChannelFailure, upstreamRequestIdOf } from './judge-answer.ts'
import { type ChannelContext, type ChannelRequest, postToChannel, type RelayedAnswer } from './post-to-channel.ts'

/** One channel that its breaker let a request go to. */
type Try = {
  readonly channel: RelayChannel
  readonly admitted: AdmittedCall
  /** Bounds the wait for the head of the answer, besides the channel's own timeouts. */
  readonly remainingMilliseconds: number
}

/** An answer that is to be relayed: a 2xx, or a 4xx about the request. */
export type ChannelReply = {
  readonly kind: 'reply'
  readonly channel: RelayChannel
  readonly status: number
  readonly contentType: string | undefined
  /** The upstream's own id of the request. */
  readonly upstreamRequestId: string | undefined
  /**
   * Iterating throws UpstreamBrokenError when the answer breaks off, of which the breaker hears by itself. Whoever does
   * not read it to its end destroys it.
   */
  readonly body: UpstreamAnswer['body']
  /** For what the upstream says in words: takes the keys out that it was called with. */
  readonly withoutCredentials: CredentialFilter
  /**
   * Tells the breaker what only the reader sees: the end of a stream was missing, the upstream reported its own failure in
   * it, or (`timeout`) an answer was not there in time. Says nothing of an answer whose upstream was held up and then broke off, for that may be the reader's doing. May
   * be called after the last byte, and more than once.
   */
  failed(how?: 'odd_body' | 'timeout'): void
  /**
   * Tells the breaker that the answer is complete for its reader, such as a stream after its `[DONE]`, whether or not its
   * upstream still keeps the connection. May be called after the last byte, and more than once.
   */
  completed(): void
}

/** `aborted`: the client left before anything was sent to this channel. `given_up`: by the caller, at whatever stage. */
export type ChannelOutcome = ChannelReply | ChannelFailure | { readonly kind: 'aborted' | 'given_up' }

/** Sends a request to one channel, tells the breaker how it went and logs a failure. @throws what `body` throws. */
export async function tryChannel(
  context: ChannelContext,
  request: ChannelRequest,
  { channel, admitted, remainingMilliseconds }: Try,
): Promise<ChannelOutcome> {
  const giveUp = (failure: ChannelFailure): ChannelFailure => {
    if (failure.kind === 'busy') {
      admitted.undecided()
    } else {
      admitted.failed(context.nowMilliseconds())
    }
    report(failure, request.requestId, channel)
    return failure
  }
  try {
    const result = await postToChannel(context, request, { channel, remainingMilliseconds })
    if (result.kind === 'aborted' || result.kind === 'given_up') {
      admitted.undecided()
      return { kind: result.kind }
    }
    return result.kind === 'answer' ? replyOf(result, { channel, admitted }, context) : giveUp(result)
  } catch (error) {
    admitted.undecided()
    throw error
  }
}

function replyOf(
  { status, headers, body, withoutCredentials }: RelayedAnswer,
  { channel, admitted }: Pick<Try, 'channel' | 'admitted'>,
  { nowMilliseconds }: ChannelContext,
): ChannelReply {
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
  const completed = () => {
    isComplete = true
    admitted.completed()
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
    kind: 'reply',
    channel,
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
    completed,
  }
}

function report({ kind, reason, upstreamRequestId }: ChannelFailure, requestId: string, { id }: RelayChannel): void {
  const facts = { requestId, channelId: id, reason, upstreamRequestId }
  if (kind === 'refused') {
    logger.error('channel refused', facts)
    count('channel_refused', { channel: id })
  } else {
    logger.warn(kind === 'busy' ? 'channel busy' : 'channel failed', facts)
  }
}
