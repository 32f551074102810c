import type { IncomingHttpHeaders } from 'node:http'
import type { AbortNotice } from '#core/abort-notice.ts'
import { upstreamModelOf } from '#core/catalogue/apis.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import { UpstreamTimeoutError } from '#core/errors.ts'
import { isRequestId } from '#core/ids.ts'
import type { UpstreamErrorClass } from '#core/measures.ts'
import {
  errorMeaning,
  errorReason,
  fieldAt,
  isKeyRefused,
  parseJson,
  readUpstreamError,
  type UpstreamError,
} from '#core/providers/reply-reading.ts'
import {
  type CredentialFilter,
  credentialFilter,
  publicModelFilter,
  withoutArns,
  withoutDigests,
} from '#core/redaction.ts'
import { IDLE_TIMEOUT } from '#platform/http/response-body.ts'
import { type HttpResponse, retryAfterSeconds, type SendOutcome } from '#platform/http/send-once.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { countUpstreamError, errorClassOfStatus, measureUpstreamCall } from '#upstream/measures.ts'
import type { UpstreamConnections, UpstreamPost } from '#upstream/providers/openai.ts'
import type { AdmittedCall } from './breakers.ts'
import { ClientGoneError } from './client-response.ts'
import type { CallTarget, UpstreamRequest } from './relay-protocol.ts'

/** Why a channel did not take a request. */
export type ChannelFailure = {
  /**
   * `busy`: the upstream asks to try later. `refused`: the upstream refuses the gateway's key or account. `failed`: the
   * upstream fails or is out of reach. `timeout`: the upstream has the request and did not begin to reply in time, so it
   * may still be working on it.
   */
  readonly kind: 'busy' | 'refused' | 'failed' | 'timeout'
  /** For the log: a code or a fixed phrase of the gateway. */
  readonly reason: string
  /** Of the reply; undefined without one. */
  readonly status?: number | undefined
  readonly upstreamRequestId?: string | undefined
  /** True for a refusal of the key, or of what signs in its place, and false for one of the account. */
  readonly isKeyRefused?: boolean | undefined
  /** True for a refusal that a newer credential may resolve: of a role, only that its credentials have ended. */
  readonly isRenewable?: boolean | undefined
  /** For the log alone: why there is no credential, or what AWS says of a missing permission, with names of roles and accounts. */
  readonly details?: string | undefined
  /** The wait that a busy upstream asks for. */
  readonly retryAfterSeconds?: number | undefined
  /** True for an upstream that is busy with all of its clients (529), not only with this account. */
  readonly isOverloaded?: boolean | undefined
}

/** What is wrong with a reply after its head, in the words for operators, and the class of error that each counts as. */
const REPLY_FAULTS = {
  /** The connection ended first. */
  broke_off: 'broken_reply',
  /** Silent for `idle_seconds`. */
  idle_timeout: 'broken_reply',
  /** Not whole in `answer_seconds`. */
  timeout: 'timeout',
  /** Above what the gateway holds. */
  too_large: 'odd_body',
  /** Of another content type, such as the page of a proxy. */
  not_json: 'odd_body',
  /** JSON without what the API promises. */
  odd_body: 'odd_body',
  /** An error under a status of success. */
  reported_error: 'odd_body',
  /** A stream closed in order, without its last event. */
  no_end: 'odd_body',
} as const satisfies Record<string, UpstreamErrorClass>

export type ReplyFault = keyof typeof REPLY_FAULTS

/** A faulty reply, such as `HTTP 200 broke_off`. */
export function faultReason({ status, fault }: Pick<UpstreamReply, 'status' | 'fault'>): string {
  return fault === undefined ? `HTTP ${status}` : `HTTP ${status} ${fault}`
}

/** How long to wait for the body of an error, whose code decides about the next channel. It nearly always comes with the head. */
const ERROR_BODY_MILLISECONDS = 1_000

/** Successes that have no content by definition: an upstream that sends one did not do the work. */
const WITHOUT_CONTENT: ReadonlySet<number> = new Set([204, 205])

/**
 * Decides whether a reply is relayed: every 2xx with content is, and so is a 4xx about the request, whose body stays unread.
 * The body of any other reply is destroyed.
 * @returns undefined for a reply to relay.
 */
export async function judgeReply(
  { status, headers, body }: HttpResponse,
  nowUnixMilliseconds: number,
  channel: Pick<RelayChannel, 'auth'> = {},
): Promise<ChannelFailure | undefined> {
  const upstreamRequestId = upstreamRequestIdOf(headers)
  if (isCompressed(headers)) {
    // The request asked for identity, and the usage is read from plain bytes.
    body.destroy()
    return { kind: 'failed', reason: 'compressed reply', upstreamRequestId }
  }
  if (WITHOUT_CONTENT.has(status)) {
    body.destroy()
    return { kind: 'failed', reason: `HTTP ${status}`, upstreamRequestId }
  }
  if (status >= 200 && status < 300) {
    return undefined
  }
  const json = parseJson((await body.peek(ERROR_BODY_MILLISECONDS)).toString('utf8'))
  const isSigned = channel.auth?.aws !== undefined
  const error = isSigned ? readAwsError(headers, json) : readUpstreamError(json)
  const hasError = (fieldAt(json, 'error') ?? fieldAt(json, 'code') ?? null) !== null
  const isAboutSignature = isSigned && (status === 403 || isExpired(error))
  const verdict = isAboutSignature ? 'refused' : judgeRefusal({ status, error, hasError })
  if (verdict === 'request') {
    return undefined
  }
  body.destroy()
  const isOfKey = verdict === 'refused' && (isAboutSignature || isKeyRefused(status, error))
  const seconds = verdict === 'busy' ? retryAfterSeconds(headers['retry-after'], nowUnixMilliseconds) : undefined
  return {
    kind: verdict,
    reason: errorReason(status, error),
    status,
    upstreamRequestId,
    isKeyRefused: isOfKey,
    isRenewable: isOfKey && (!isSigned || isExpired(error)),
    details: isSigned && verdict === 'refused' && NAMES_ACTION.test(error.code ?? '') ? error.message : undefined,
    retryAfterSeconds: seconds,
    isOverloaded: status === OVERLOADED || undefined,
  }
}

/** The name of an error is in a header, or in `__type` after a namespace, where the body is not one of the API. */
function readAwsError(headers: IncomingHttpHeaders, json: unknown): UpstreamError {
  const error = readUpstreamError(json)
  const [name] = String(headers['x-amzn-errortype'] ?? fieldAt(json, '__type') ?? '').split(':')
  return { ...error, code: name?.slice(name.indexOf('#') + 1) || error.code }
}

/** Credentials of a role end: the same request signed with newer ones is valid. */
function isExpired({ code, type }: UpstreamError): boolean {
  return [code, type].some((name) => /^expired_?token/i.test(name ?? ''))
}

/** Says which permission is missing. The words of other refusals may repeat the signed request. */
const NAMES_ACTION = /^access_?denied/i

/** The upstream's own id of a request (`x-request-id`, Anthropic's `request-id` or that of AWS); undefined for a value that is no plain id, which stays out of the logs. */
export function upstreamRequestIdOf(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['x-request-id'] ?? headers['request-id'] ?? headers['x-amzn-requestid']
  return isRequestId(id) ? id : undefined
}

function isCompressed(headers: IncomingHttpHeaders): boolean {
  const coding = headers['content-encoding']
  return coding !== undefined && !/^\s*(identity)?\s*$/i.test(coding)
}

/**
 * What a reply without success is about: the client's request, which the client then sees; the moment (`busy`); the
 * gateway's own key or account (`refused`); or the upstream itself (`failed`).
 */
type RefusalVerdict = 'request' | 'busy' | 'refused' | 'failed'

/** Anthropic's status for an upstream without room. */
const OVERLOADED = 529

/** Refusals of a key or an account, which come under any status (OpenAI's `billing_hard_limit_reached` under 400). */
const ACCOUNT_NAME = /^insufficient_|^Arrearage|Overdue|^billing_|^Invalid_?Api_?Key/i

/** These statuses are about the request, whatever the body says. */
const ABOUT_REQUEST: ReadonlySet<number> = new Set([400, 409, 413, 415, 422])

/**
 * These statuses may be about the request (a model that is unknown or gone) or about the path: with a wrong base url,
 * the server that responds may not be the upstream's API at all.
 */
const ABOUT_REQUEST_OR_PATH: ReadonlySet<number> = new Set([404, 405, 410])

/** These statuses are about the content of the request where the error says so. */
const ABOUT_CONTENT: ReadonlySet<number> = new Set([403, 451])

type Refusal = {
  /** Anything but a 2xx. A redirect is not followed, so it is a failure. */
  readonly status: number
  readonly error: UpstreamError
  /** Whether the body is an error of the upstream's API: JSON with an `error` or a code. */
  readonly hasError: boolean
}

/**
 * Judges a reply without success by its status and, where the status does not tell, by the code and type of its error. The
 * message counts for a 429 alone: other messages may repeat words of the request, and no client may put a channel out of
 * order. Any other 4xx (407, 411, 417, 421, 426, 431) is about how the gateway sent the request.
 */
export function judgeRefusal({ status, error, hasError }: Refusal): RefusalVerdict {
  if (status === OVERLOADED) {
    return 'busy'
  }
  if (status < 400 || status >= 500 || status === 408) {
    return 'failed'
  }
  if (status === 429) {
    return errorMeaning(error) === 'channel' ? 'refused' : 'busy'
  }
  if (ABOUT_CONTENT.has(status) && errorMeaning(error) === 'content_policy') {
    return 'request'
  }
  const namesAccount = [error.code, error.type].some((name) => name !== undefined && ACCOUNT_NAME.test(name))
  if (status === 401 || status === 402 || status === 403 || namesAccount) {
    return 'refused'
  }
  return ABOUT_REQUEST.has(status) || (ABOUT_REQUEST_OR_PATH.has(status) && hasError) ? 'request' : 'failed'
}

type ChannelCredential = UpstreamPost['credential']

/** What calling a channel takes from outside. */
export type ChannelContext = {
  readonly connections: UpstreamConnections
  /** The key of a channel, or what stands in its place. A channel whose key cannot be read is not called. */
  readonly credential: (channel: RelayChannel) => Promise<ChannelCredential>
  /**
   * The key that has replaced the one that the upstream refused; undefined when there is none. Never rejects. Left out
   * where keys do not change.
   */
  readonly renewedCredential?: (
    channel: RelayChannel,
    refused: ChannelCredential,
  ) => Promise<ChannelCredential | undefined>
  /** Unix time. */
  readonly nowMilliseconds: () => number
}

/** What an upstream gets. */
type SentRequest = Omit<UpstreamRequest, 'ignored'>

/** What a request sends, whichever channel it goes to. */
export type ChannelCall = {
  /** Public id of the model. */
  readonly modelId: string
  /** Writes the request for one channel: each upstream has its own id of the model and its own list of allowed fields. */
  readonly write: (target: CallTarget) => SentRequest
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
  /** Hears of each channel that does not take the request. */
  readonly tellFailure?: (failure: Pick<ChannelFailure, 'reason'>, channel: RelayChannel) => void
}

/** One call that the breaker of a channel has admitted. */
type AdmittedChannelCall = ChannelCall & {
  readonly requestId: string
  readonly channel: RelayChannel
  readonly admitted: AdmittedCall
  /** Channels that were tried for this request, this one included. */
  readonly attempts: number
}

/** The caller gave up the call, on which an upstream may be working. */
class CallGivenUpError extends Error {
  override readonly name = 'CallGivenUpError'
}

/**
 * Sends a request to one channel. A channel that does not take the request is logged, and its breaker counts the failure unless
 * the channel is only busy.
 * @throws UpstreamTimeoutError, ClientGoneError and CallGivenUpError, after which no other channel is to be called; whatever `write` throws.
 */
export async function callChannel(
  context: ChannelContext,
  call: AdmittedChannelCall,
): Promise<UpstreamReply | ChannelFailure> {
  const { channel, admitted, requestId } = call
  const outcome = await postWithKey(context, call).catch((error: unknown) => {
    admitted.undecided()
    throw error
  })
  switch (outcome.kind) {
    case 'response':
      return openReply(outcome, call, context.nowMilliseconds)
    case 'aborted':
      admitted.undecided()
      throw new ClientGoneError()
    case 'given_up':
      admitted.undecided()
      throw new CallGivenUpError()
    case 'busy':
      admitted.undecided()
      break
    default:
      admitted.failed(context.nowMilliseconds())
  }
  report(outcome, requestId, channel)
  call.tellFailure?.(outcome, channel)
  if (outcome.kind === 'timeout') {
    throw new UpstreamTimeoutError()
  }
  return outcome
}

function report(failure: ChannelFailure, requestId: string, { id }: RelayChannel): void {
  const { kind, reason, upstreamRequestId, details } = failure
  const facts = { requestId, channelId: id, reason, upstreamRequestId, ...(details === undefined ? {} : { details }) }
  if (kind === 'refused') {
    logger.error('channel refused', facts)
    count('channel_refused', { channel: id })
  } else {
    logger.warn(kind === 'busy' ? 'channel busy' : 'channel failed', facts)
  }
}

/** A reply to relay, and the filter for what the upstream says in words. */
type TakenReply = HttpResponse & Pick<UpstreamReply, 'withoutCredentials'>

/** `aborted`: the client left before anything was sent. `given_up`: the caller gave up the call, at any stage. */
type Unwanted = { readonly kind: 'aborted' | 'given_up' }

/**
 * Posts a request. When the upstream refuses the key and the key has been replaced since it was read, the request is posted once
 * more with the new key: an upstream that refuses a key has not looked at the request.
 */
async function postWithKey(
  context: ChannelContext,
  call: AdmittedChannelCall,
): Promise<TakenReply | ChannelFailure | Unwanted> {
  const { channel, modelId } = call
  const upstreamModel = upstreamModelOf(channel, modelId)
  const request = call.write({ channel, upstreamModel })
  let credential: ChannelCredential
  try {
    credential = await context.credential(channel)
  } catch (error) {
    // The errors of keys name secrets of the deployment; those of other credentials say what to mend.
    const details = channel.auth !== undefined && error instanceof Error ? error.message : undefined
    return { kind: 'refused', reason: 'credential not available', details }
  }
  const secrets = secretsOf(credential)
  let outcome = await postOnce(context, { ...call, request, credential })
  if (outcome.kind === 'refused' && outcome.isRenewable === true) {
    const replacement = await context.renewedCredential?.(channel, credential)
    if (replacement !== undefined) {
      secrets.push(...secretsOf(replacement))
      outcome = await postOnce(context, { ...call, request, credential: replacement })
    }
  }
  const withoutSecrets = credentialFilter(secrets)
  const isSigned = channel.auth?.aws !== undefined
  const withoutSignature = isSigned ? (text: string) => withoutDigests(withoutSecrets(text)) : withoutSecrets
  const withoutCredentials = isSigned ? (text: string) => withoutArns(withoutSignature(text)) : withoutSecrets
  if (outcome.kind === 'response') {
    const publicModel = publicModelFilter(upstreamModel, modelId)
    return { ...outcome, withoutCredentials: (text) => publicModel(withoutCredentials(text)) }
  }
  // The reason may be a code in the upstream's words, and goes to the log.
  if (!('reason' in outcome)) {
    return outcome
  }
  const { details } = outcome
  return {
    ...outcome,
    reason: withoutCredentials(outcome.reason),
    ...(details === undefined ? {} : { details: withoutSignature(details) }),
  }
}

function secretsOf(credential: ChannelCredential): string[] {
  return typeof credential === 'string' ? [credential] : [...credential.secrets]
}

type Posted = Omit<AdmittedChannelCall, 'write'> & {
  readonly request: SentRequest
  readonly credential: ChannelCredential
}

async function postOnce(
  { connections, nowMilliseconds }: ChannelContext,
  { channel, request, requestId, credential, deadline, signal, givenUp }: Posted,
): Promise<HttpResponse | ChannelFailure | Unwanted> {
  const { connect_seconds, first_byte_seconds, idle_seconds } = channel.timeouts
  const startedAt = performance.now()
  const outcome = await connections.post({
    url: `${request.baseUrl ?? channel.base_url}${request.path}`,
    credential,
    keyHeader: request.keyHeader,
    headers: request.headers,
    requestId,
    body: request.text,
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
      return (await judgeReply(outcome, nowMilliseconds(), channel)) ?? outcome
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
      return 'broken_reply'
    case 'first_byte_timeout':
      return 'timeout'
    default:
      return outcome satisfies never
  }
}

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
  /** Removes the keys that the upstream was called with from its words, and its own id of the model. */
  readonly withoutCredentials: CredentialFilter
  /**
   * Tells the breaker what only the reader can see. The breaker hears nothing when the reader held the upstream up and the reply
   * then broke off, because the reader may have caused the break. May be called after the last byte, and more than once.
   */
  failed(fault: ReplyFault): void
  /** The first that its end or its reader found. */
  fault?: ReplyFault | undefined
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

/** The reply of a channel, whose end and whose reader report to the channel's breaker. */
function openReply(
  reply: TakenReply,
  { channel, attempts, admitted, requestId }: AdmittedChannelCall,
  nowMilliseconds: () => number,
): UpstreamReply {
  const { status, headers, body, withoutCredentials } = reply
  let isComplete = false
  let isCounted = false
  let wasHeldUp = false
  const opened: UpstreamReply = {
    channel,
    attempts,
    status,
    contentType: headers['content-type'],
    upstreamRequestId: upstreamRequestIdOf(headers),
    body,
    withoutCredentials,
    failed: (fault) => {
      opened.fault ??= fault
      if (wasHeldUp) {
        return
      }
      admitted.failed(nowMilliseconds())
      if (!isCounted) {
        isCounted = true
        countUpstreamError(REPLY_FAULTS[fault], channel.id)
        const { upstreamRequestId } = opened
        logger.warn('channel failed', {
          requestId,
          channelId: channel.id,
          reason: `HTTP ${status} ${fault}`,
          upstreamRequestId,
        })
      }
    },
    completed: () => {
      isComplete = true
      admitted.completed()
    },
  }
  admitted.begun()
  body.onceOver((end, reason) => {
    if (isComplete || end === 'whole') {
      admitted.completed()
    } else if (end === 'broken') {
      opened.failed(reason === IDLE_TIMEOUT ? 'idle_timeout' : 'broke_off')
    } else {
      wasHeldUp = end === 'held_up'
      admitted.undecided()
    }
  })
  return opened
}
