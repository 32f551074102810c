import type { RelayChannel } from '#core/catalogue/channel.ts'
import { count } from '../telemetry/count.ts'
import { logger } from '../telemetry/logger.ts'
import type { AdmittedCall } from './breakers.ts'
import { type ChannelFailure, judgeAnswer, upstreamRequestIdOf } from './judge-answer.ts'
import type { PostOutcome, UpstreamAnswer } from './upstream-attempt.ts'
import type { UpstreamConnections } from './upstream-connection.ts'

/** What trying a channel takes from outside. */
export type ChannelContext = {
  readonly connections: UpstreamConnections
  /** The key of a channel; one that cannot be read puts the channel out. */
  readonly credential: (channel: RelayChannel) => Promise<string>
  /** Unix time. */
  readonly nowMilliseconds: () => number
}

/** What a request sends, whichever channel it goes to. */
export type ChannelRequest = {
  /** Public id of the model. */
  readonly modelId: string
  /** Below the base url of a channel, such as `/chat/completions`. */
  readonly path: string
  /** Our id of the request: in the logs, and told to the upstream. */
  readonly requestId: string
  /**
   * Fires when the client leaves. Then nothing more is sent; an upstream that has been sent the request is still waited
   * for, at most until its first-byte timeout, and what to do with its answer is the caller's to decide.
   */
  readonly signal?: AbortSignal
  /**
   * Fires when nobody wants an answer any more. An upstream is then left at any stage of the call, and neither its breaker
   * nor the log hears of a failure. An answer that has been handed out is its reader's to destroy.
   */
  readonly givenUp?: AbortSignal
  /** The JSON text for a channel, by the upstream's own id of the model. */
  readonly body: (upstreamModelId: string) => string
}

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
  /**
   * Tells the breaker what only the reader sees: the end of a stream was missing, or the upstream reported its own failure
   * in it. May be called after the last byte, and more than once.
   */
  failed(): void
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
    const result = await post(context, request, { channel, remainingMilliseconds })
    if (result.kind === 'aborted' || result.kind === 'given_up') {
      admitted.undecided()
      return { kind: result.kind }
    }
    if (result.kind !== 'answer') {
      return giveUp(failureOf(result))
    }
    const failure = await judgeAnswer(result, context.nowMilliseconds())
    return failure === undefined ? replyOf(result, { channel, admitted }, context) : giveUp(failure)
  } catch (error) {
    admitted.undecided()
    throw error
  }
}

const NO_CREDENTIAL = { kind: 'no_credential' } as const

async function post(
  { connections, credential }: ChannelContext,
  { modelId, path, requestId, signal, givenUp, body }: ChannelRequest,
  { channel, remainingMilliseconds }: Pick<Try, 'channel' | 'remainingMilliseconds'>,
): Promise<PostOutcome | typeof NO_CREDENTIAL> {
  const text = body(channel.models[modelId] ?? modelId)
  let key: string
  try {
    key = await credential(channel)
  } catch {
    return NO_CREDENTIAL
  }
  const { connect_seconds, first_byte_seconds, idle_seconds } = channel.timeouts
  return await connections.post({
    url: `${channel.base_url}${path}`,
    credential: key,
    requestId,
    body: text,
    timeouts: {
      connectMilliseconds: Math.min(remainingMilliseconds, connect_seconds * 1_000),
      firstByteMilliseconds: Math.min(remainingMilliseconds, first_byte_seconds * 1_000),
      idleMilliseconds: idle_seconds * 1_000,
    },
    signal,
    givenUp,
  })
}

function failureOf(
  result: Exclude<PostOutcome, { kind: 'answer' | 'aborted' | 'given_up' }> | typeof NO_CREDENTIAL,
): ChannelFailure {
  switch (result.kind) {
    case 'no_credential':
      return { kind: 'refused', reason: 'credential not available' }
    case 'not_sent':
    case 'no_answer':
      return { kind: 'failed', reason: result.reason }
    case 'first_byte_timeout':
      return { kind: 'timeout', reason: 'first byte timeout' }
    default:
      return result satisfies never
  }
}

function replyOf(
  { status, headers, body }: UpstreamAnswer,
  { channel, admitted }: Pick<Try, 'channel' | 'admitted'>,
  { nowMilliseconds }: ChannelContext,
): ChannelReply {
  const failed = () => admitted.failed(nowMilliseconds())
  let isComplete = false
  const completed = () => {
    isComplete = true
    admitted.completed()
  }
  admitted.answered()
  body.onceOver((end) => {
    if (isComplete || end === 'whole') {
      admitted.completed()
    } else if (end === 'broken') {
      failed()
    } else {
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
    failed,
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
