import type { PostOutcome, UpstreamAnswer } from '#adapters/http/upstream-attempt.ts'
import type { UpstreamConnections } from '#adapters/http/upstream-connection.ts'
import { countUpstreamError, errorClassOfStatus } from '#adapters/telemetry/upstream-errors.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import { type CredentialFilter, credentialFilter } from '#core/without-credentials.ts'
import { type ChannelFailure, judgeAnswer } from './judge-answer.ts'

/** What trying a channel takes from outside. */
export type ChannelContext = {
  readonly connections: UpstreamConnections
  /** The key of a channel; one that cannot be read puts the channel out. */
  readonly credential: (channel: RelayChannel) => Promise<string>
  /**
   * The key that has replaced the one that the channel's upstream refused; undefined when there is none. It never
   * rejects. Left out where keys do not change.
   */
  readonly renewedCredential?: (channel: RelayChannel, refused: string) => Promise<string | undefined>
  /** Unix time. */
  readonly nowMilliseconds: () => number
}

/** Writes the JSON text that a channel gets: the upstream has its own id of the model, and the channel says what passes. */
export type WriteBody = (upstreamModelId: string, channel: RelayChannel) => string

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
  readonly body: WriteBody
}

/** Where a request goes, and how long the head of its answer may take, besides the channel's own timeouts. */
type Target = { readonly channel: RelayChannel; readonly remainingMilliseconds: number }

/** An answer to relay. What an upstream says in words goes to the client without the keys that it was called with. */
export type RelayedAnswer = UpstreamAnswer & { readonly withoutCredentials: CredentialFilter }

/** An answer to relay, why there is none, or that nobody wants it any more. */
type ChannelAnswer = UpstreamAnswer | ChannelFailure | { readonly kind: 'aborted' } | { readonly kind: 'given_up' }

/**
 * Posts a request to one channel. When its key is refused and has been replaced since it was read, the request is posted
 * once more, with the new one: whoever refuses a key has not looked at the request.
 * @throws what `body` throws.
 */
export async function postToChannel(
  context: ChannelContext,
  request: ChannelRequest,
  { channel, remainingMilliseconds }: Target,
): Promise<RelayedAnswer | Exclude<ChannelAnswer, UpstreamAnswer>> {
  const deadline = performance.now() + remainingMilliseconds
  const body = request.body(channel.models[request.modelId] ?? request.modelId, channel)
  let credential: string
  try {
    credential = await context.credential(channel)
  } catch {
    return { kind: 'refused', reason: 'credential not available' }
  }
  const post = (key: string) => postOnce(context, { request, body, credential: key }, { channel, deadline })
  const first = await post(credential)
  if (first.kind !== 'refused' || first.isKeyRefused !== true) {
    return guarded(first, [credential])
  }
  const newCredential = await context.renewedCredential?.(channel, credential)
  return newCredential === undefined
    ? guarded(first, [credential])
    : guarded(await post(newCredential), [credential, newCredential])
}

/** A failure's reason may be a code in the upstream's words, and goes to the log. */
function guarded(
  answer: ChannelAnswer,
  credentials: readonly string[],
): RelayedAnswer | Exclude<ChannelAnswer, UpstreamAnswer> {
  const withoutCredentials = credentialFilter(credentials)
  if (answer.kind === 'answer') {
    return { ...answer, withoutCredentials }
  }
  return 'reason' in answer ? { ...answer, reason: withoutCredentials(answer.reason) } : answer
}

type Outgoing = { readonly request: ChannelRequest; readonly body: string; readonly credential: string }

/** `deadline`: by when the head of the answer is to be there, as a time of `performance.now()`. */
type Destination = { readonly channel: RelayChannel; readonly deadline: number }

async function postOnce(
  { connections, nowMilliseconds }: ChannelContext,
  { request: { path, requestId, signal, givenUp }, body, credential }: Outgoing,
  { channel, deadline }: Destination,
): Promise<ChannelAnswer> {
  const { connect_seconds, first_byte_seconds, idle_seconds } = channel.timeouts
  const result = await connections.post({
    url: `${channel.base_url}${path}`,
    credential,
    requestId,
    body,
    timeouts: {
      connectMilliseconds: connect_seconds * 1_000,
      firstByteMilliseconds: first_byte_seconds * 1_000,
      idleMilliseconds: idle_seconds * 1_000,
    },
    deadline,
    signal,
    givenUp,
  })
  const errorClass = errorClassOf(result)
  if (errorClass !== undefined) {
    countUpstreamError(errorClass, channel.id)
  }
  return result.kind === 'answer' ? ((await judgeAnswer(result, nowMilliseconds())) ?? result) : withoutAnswer(result)
}

function errorClassOf(result: PostOutcome) {
  switch (result.kind) {
    case 'answer':
      return errorClassOfStatus(result.status)
    case 'not_sent':
      return 'connect_error'
    case 'no_answer':
      return 'broken_answer'
    case 'first_byte_timeout':
      return 'timeout'
    case 'aborted':
    case 'given_up':
      return undefined
    default:
      return result satisfies never
  }
}

function withoutAnswer(result: Exclude<PostOutcome, UpstreamAnswer>): Exclude<ChannelAnswer, UpstreamAnswer> {
  switch (result.kind) {
    case 'aborted':
    case 'given_up':
      return result
    case 'not_sent':
    case 'no_answer':
      return { kind: 'failed', reason: result.reason }
    case 'first_byte_timeout':
      return { kind: 'timeout', reason: 'first byte timeout' }
    default:
      return result satisfies never
  }
}
