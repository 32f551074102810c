import type { AbortNotice } from '#core/abort-notice.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import { type CredentialFilter, credentialFilter } from '#core/redaction.ts'
import type { HttpResponse, SendOutcome } from '#platform/http/send-once.ts'
import { errorClassOfStatus, measureUpstreamCall } from '#upstream/measures.ts'
import type { UpstreamConnections } from '#upstream/providers/openai.ts'
import { type ChannelFailure, judgeReply } from './judge-reply.ts'

/** What calling a channel takes from outside. */
export type ChannelContext = {
  readonly connections: UpstreamConnections
  /** The key of a channel. A channel whose key cannot be read is not called. */
  readonly credential: (channel: RelayChannel) => Promise<string>
  /**
   * The key that has replaced the one that the upstream refused; undefined when there is none. Never rejects. Left out
   * where keys do not change.
   */
  readonly renewedCredential?: (channel: RelayChannel, refused: string) => Promise<string | undefined>
  /** Unix time. */
  readonly nowMilliseconds: () => number
}

/** What a request sends, whichever channel it goes to. */
export type ChannelCall = {
  /** Public id of the model. */
  readonly modelId: string
  /** Below the base url of a channel, such as `/chat/completions`. */
  readonly path: string
  /** Writes the JSON for one channel: each upstream has its own id of the model and its own list of passing fields. */
  readonly body: (upstreamModelId: string, channel: RelayChannel) => string
  /** When the wait for the head of the reply ends, besides the channel's own timeouts: a time of `performance.now()`. */
  readonly deadline: number
  /**
   * Fires when the client leaves. Nothing more is sent then. An upstream that already has the request is still waited for,
   * until its first-byte timeout at most, and the caller decides what to do with the reply.
   */
  readonly signal?: AbortNotice
  /**
   * Fires when no reply is wanted any more. The upstream is then left at any stage of the call, and neither its breaker
   * nor the log hears of a failure. The reader of a reply that was handed out destroys the reply.
   */
  readonly givenUp?: AbortNotice | undefined
}

/** A reply to relay. What the upstream says in words reaches the client without the keys that the upstream was called with. */
export type TakenReply = HttpResponse & { readonly withoutCredentials: CredentialFilter }

/** `aborted`: the client left before anything was sent. `given_up`: the caller gave up the call, at any stage. */
type Unwanted = { readonly kind: 'aborted' | 'given_up' }

/**
 * Sends a request to one channel. When the upstream refuses the key and the key has been replaced since it was read, the
 * request is posted once more with the new key: an upstream that refuses a key has not looked at the request.
 * @throws whatever `body` throws.
 */
export async function callChannel(
  context: ChannelContext,
  channel: RelayChannel,
  call: ChannelCall & { readonly requestId: string },
): Promise<TakenReply | ChannelFailure | Unwanted> {
  const body = call.body(channel.models[call.modelId] ?? call.modelId, channel)
  let credential: string
  try {
    credential = await context.credential(channel)
  } catch {
    return { kind: 'refused', reason: 'credential not available' }
  }
  const credentials = [credential]
  let outcome = await postOnce(context, channel, { ...call, body, credential })
  if (outcome.kind === 'refused' && outcome.isKeyRefused === true) {
    const replacement = await context.renewedCredential?.(channel, credential)
    if (replacement !== undefined) {
      credentials.push(replacement)
      outcome = await postOnce(context, channel, { ...call, body, credential: replacement })
    }
  }
  const withoutCredentials = credentialFilter(credentials)
  if (outcome.kind === 'response') {
    return { ...outcome, withoutCredentials }
  }
  // The reason may be a code in the upstream's words, and goes to the log.
  return 'reason' in outcome ? { ...outcome, reason: withoutCredentials(outcome.reason) } : outcome
}

type Posted = Omit<ChannelCall, 'body'> & {
  readonly requestId: string
  readonly body: string
  readonly credential: string
}

async function postOnce(
  { connections, nowMilliseconds }: ChannelContext,
  channel: RelayChannel,
  { path, requestId, body, credential, deadline, signal, givenUp }: Posted,
): Promise<HttpResponse | ChannelFailure | Unwanted> {
  const { connect_seconds, first_byte_seconds, idle_seconds } = channel.timeouts
  const startedAt = performance.now()
  const outcome = await connections.post({
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
  if (outcome.kind !== 'aborted' && outcome.kind !== 'given_up') {
    const milliseconds = performance.now() - startedAt
    measureUpstreamCall({ channelId: channel.id, milliseconds, errorClass: errorClassOf(outcome) })
  }
  switch (outcome.kind) {
    case 'response':
      return (await judgeReply(outcome, nowMilliseconds())) ?? outcome
    case 'not_sent':
    case 'no_response':
      return { kind: 'failed', reason: outcome.reason }
    case 'first_byte_timeout':
      return { kind: 'timeout', reason: 'first byte timeout' }
    default:
      return outcome
  }
}

function errorClassOf(outcome: Exclude<SendOutcome, { kind: 'aborted' | 'given_up' }>) {
  switch (outcome.kind) {
    case 'response':
      return errorClassOfStatus(outcome.status)
    case 'not_sent':
      return 'connect_error'
    case 'no_response':
      return 'broken_answer'
    case 'first_byte_timeout':
      return 'timeout'
    default:
      return outcome satisfies never
  }
}
