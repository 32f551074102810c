import type { ErrorForm } from '#core/api/error-form.ts'
import { IGNORED_HEADER, refuseIgnored } from '#core/api/ignored-fields.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import { HttpError, UpstreamTimeoutError } from '#core/errors.ts'
import { FRONT_DOOR_HEADER, FRONT_DOOR_SILENCE_SECONDS } from '#core/http.ts'
import type { Microcredits } from '#core/money.ts'
import { type Handling, headerValue, MiddlewareOrderError, type ReceivedRequest } from '#middleware/api-event.ts'
import { handlingHeaders } from '#middleware/request-input.ts'
import { refusalFacts } from '#middleware/responses.ts'
import type { Caller } from '#store/callers.ts'
import type { RelayOutcome } from '#store/relay-ledger/relay-reservation.ts'
import { type ChannelFailure, faultReason, isSuccess, type UpstreamReply } from './call-channel.ts'
import { ClientGoneError, type ClientResponse, type ResponseHeaders } from './client-response.ts'
import { sendError } from './send-response.ts'

/** The body of a relayed request. */
export type RelayBody = {
  /** Valid JSON, as the client wrote it. */
  readonly text: string
  /** Length of `text` in UTF-8. */
  readonly bytes: number
  readonly json: unknown
}

type FailedBill = {
  readonly isBilled: boolean
  /** What was billed. */
  readonly cost?: Microcredits | undefined
}

type Received = {
  readonly operation: string
  readonly errors: ErrorForm
  readonly request: ReceivedRequest
  /**
   * Lambda's own id with the time in front: API Gateway lets a client choose its request id, and this one names money. Rows of the
   * ledger sort by it (docs/decisions/0130).
   */
  readonly requestId: string
  /** Completes the head of `response`. */
  readonly headers: ResponseHeaders
  readonly response: ClientResponse
}

/** Where a caller comes from. */
type CallerSource = {
  /** Reads the key again. @throws InvalidApiKeyError */
  readonly read: () => Promise<Caller>
  /** Whether the key was read for this request. */
  readonly isCurrent: boolean
}

/** The key was changed since it was read, and is valid: the request begins again with what the key may do now. */
export class CallerChangedError extends Error {
  override readonly name = 'CallerChangedError'
  /** As read now. */
  readonly caller: Caller

  constructor(caller: Caller) {
    super(`key ${caller.keyId} was changed`)
    this.caller = caller
  }
}

/** One relayed request and its response, from the key to the log line. The middleware fills in the caller and the body. */
export class RelayExchange {
  readonly operation: string
  readonly #errors: ErrorForm
  readonly request: ReceivedRequest
  /** The one id of this request: in the logs, on the response, in the ledger. */
  readonly requestId: string
  /** When the request arrived, as a time of `performance.now()`. */
  readonly receivedAt = performance.now()
  readonly response: ClientResponse
  readonly headers: ResponseHeaders
  /** What the log line says besides operation, status and duration; never prompts, replies or keys. */
  readonly facts: Record<string, unknown>
  /** The channel that served the request; of several, the one that did so last. Undefined before the first reply. */
  channelId: string | undefined
  #caller: Caller | undefined
  #readCaller: (() => Promise<Caller>) | undefined
  #isCurrent = true
  #body: RelayBody | undefined
  #handling: Handling = { isStrict: false, ignored: { query: [], headers: [], fields: [] } }
  #isFailureTold = false
  #lastFailure: { readonly channel: string; readonly cause: string } | undefined
  #lastReply: Pick<UpstreamReply, 'channel' | 'status' | 'fault'> | undefined

  constructor({ operation, errors, request, requestId, headers, response }: Received) {
    this.operation = operation
    this.#errors = errors
    this.request = request
    this.requestId = requestId
    this.headers = headers
    this.response = response
    this.facts = { gatewayRequestId: request.platformRequestId }
    if (errors.requestIdHeader !== undefined) {
      headers.add({ [errors.requestIdHeader]: requestId })
    }
  }

  /**
   * The tenant and key of the request. The record of the key may be up to a minute old.
   * @throws MiddlewareOrderError before {@link authenticated}.
   */
  get caller(): Caller {
    return present(this.#caller, 'authenticate')
  }

  /** @throws MiddlewareOrderError before {@link parsed}. */
  get body(): RelayBody {
    return present(this.#body, 'jsonBody')
  }

  /** `X-Session-ID`: the requests of one session stay with one channel. */
  get sessionId(): string | undefined {
    return headerValue(this.request, 'x-session-id')
  }

  /** Begins, or after a change of the key begins again, with this caller. */
  authenticated(caller: Caller, { read, isCurrent }: CallerSource): void {
    this.#caller = caller
    this.#readCaller = read
    this.#isCurrent = isCurrent
    this.facts.tenantId = caller.tenantId
  }

  parsed(body: RelayBody): void {
    this.#body = body
  }

  /** Notes what the request prefers, and its query parameters and headers that nobody reads; the response says both. */
  handled(handling: Handling): void {
    this.#handling = handling
    this.headers.add({ [IGNORED_HEADER]: undefined, ...handlingHeaders(handling) })
  }

  /**
   * Proves with a fresh read that the key is still valid and unchanged, where no reservation proves it. A key that was read for this request
   * is not read again.
   * @throws InvalidApiKeyError, CallerChangedError, ServiceUnavailableError.
   */
  async confirmCaller(): Promise<void> {
    if (!this.#isCurrent) {
      await this.renewCaller()
    }
  }

  /** The same, by a read in any case. */
  async renewCaller(): Promise<void> {
    const { revision } = this.caller
    const current = await this.#readCaller?.()
    this.#isCurrent = true
    if (current !== undefined && current.revision !== revision) {
      throw new CallerChangedError(current)
    }
  }

  /** Adds to the log line; never prompts, replies or keys. */
  note(facts: Readonly<Record<string, string | number | boolean | undefined>>): void {
    Object.assign(this.facts, facts)
  }

  /** Notes the upstream that replied. A refusal of a later call leaves the channel that served an earlier one. */
  noteReply(reply: Pick<UpstreamReply, 'channel' | 'status' | 'upstreamRequestId' | 'attempts' | 'fault'>): void {
    const { channel, upstreamRequestId, attempts } = reply
    this.#lastFailure = undefined
    this.#lastReply = reply
    if (this.channelId === undefined || isSuccess(reply)) {
      this.channelId = channel.id
    }
    this.note({ channelId: channel.id, upstreamRequestId, attempts })
  }

  /** Notes a channel that did not take the request. */
  noteFailure({ reason }: Pick<ChannelFailure, 'reason'>, { id }: Pick<RelayChannel, 'id'>): void {
    this.#lastFailure = { channel: id, cause: reason }
  }

  /** What became of the request, for its row in the ledger. @param error what it ended with; undefined for a response without one. */
  outcome(error: unknown): RelayOutcome {
    const status = this.response.statusCode
    const failure = error === undefined ? this.#failureOf(status) : failureOf(error)
    const ofFailure = { channel: this.channelId, ...this.#cause, failure }
    return {
      status,
      firstByteMilliseconds: this.headers.firstByteMilliseconds,
      ...(failure === undefined ? {} : ofFailure),
    }
  }

  /** Why the channel that was tried last failed. */
  get #cause(): { readonly channel: string; readonly cause: string } | undefined {
    const reply = this.#lastReply
    const isToBlame = reply !== undefined && (reply.fault !== undefined || !isSuccess(reply))
    return this.#lastFailure ?? (isToBlame ? { channel: reply.channel.id, cause: faultReason(reply) } : undefined)
  }

  /** The failure that a response without an error tells. */
  #failureOf(status: number | undefined): string | undefined {
    const { streamEnd } = this.facts
    // A large reply is relayed under a status of success before its fault shows.
    const isCutShort = streamEnd === undefined && status === 200 && this.#lastReply?.fault !== undefined
    if (streamEnd === 'broken' || isCutShort) {
      return 'upstream_error'
    }
    if (streamEnd === 'abandoned' || (status === undefined && this.response.gone.aborted)) {
      return 'client_gone'
    }
    return status === 504 ? 'upstream_timeout' : (status ?? 200) >= 400 ? 'request_refused' : undefined
  }

  /**
   * Names the fields of the body that the upstream does not get, in a header of the response. Each call replaces the names
   * of the call before: every channel has its own list.
   */
  tellIgnored(fields: readonly string[]): void {
    const { isStrict, ignored } = this.#handling
    this.handled({ isStrict, ignored: { ...ignored, fields } })
  }

  /**
   * Refuses a strict request for the parts that would be ignored, before its reservation.
   * @throws InvalidRequestError naming them.
   */
  refuseIgnored(fieldsIgnored: () => readonly string[]): void {
    if (this.#handling.isStrict) {
      refuseIgnored({ ...this.#handling.ignored, fields: fieldsIgnored() })
    }
  }

  /**
   * Responds with an error unless a response has begun; does nothing the second time. After a bill the error tells SDKs not
   * to retry by themselves, because a retry would be billed again, and what was billed.
   */
  tellFailure(error: unknown, { isBilled, cost }: FailedBill): void {
    if (!this.#isFailureTold) {
      this.#isFailureTold = true
      this.note(refusalFacts(error))
      sendError(this.response, error, { errors: this.#errors, requestId: this.requestId, isBilled, cost })
    }
  }
}

/** The code of a failure, as its client got it. */
function failureOf(error: unknown): string {
  if (error instanceof ClientGoneError) {
    return 'client_gone'
  }
  const status = error instanceof HttpError ? error.statusCode : 500
  const code = error instanceof HttpError ? error.kind?.code : undefined
  return code ?? (status === 429 ? 'rate_limit_exceeded' : status === 503 ? 'unavailable' : 'internal_error')
}

function present<Value>(value: Value | undefined, step: string): Value {
  if (value === undefined) {
    throw new MiddlewareOrderError(`${step} must run before the operation`)
  }
  return value
}

/** Leaves the front door time for the response itself. */
const MARGIN_SECONDS = 10

/** A response that can end before it is complete. */
type EndableResponse = Pick<ClientResponse, 'isOpen'> & { readonly giveUp: () => void }

const RESPONSE_MILLISECONDS_MAX = (FRONT_DOOR_SILENCE_SECONDS - MARGIN_SECONDS) * 1_000

/** Lambda gives a process ten seconds to start, and the requests that waited for it a moment to reach it. */
const START_MILLISECONDS_MAX = 15_000

/**
 * Bounds the silence before the first byte of a response through the front door, which would give up the response with a page of its own
 * that SDKs retry. The client gets a 504 that is not to be retried; the request then goes on as after a client that has left, and is
 * billed if the upstream replies. A response that has begun sends its own signs of life. The front door counts the time in which a process
 * started for the request, so the time of a process that has just started is counted from its start.
 * @param ageMilliseconds since the start of the process.
 * @returns a function to call when the request is settled.
 */
export function boundSilence(
  exchange: Pick<RelayExchange, 'request' | 'note' | 'tellFailure'>,
  response: EndableResponse,
  ageMilliseconds = performance.now(),
): () => void {
  if (exchange.request.headerLines(FRONT_DOOR_HEADER).length === 0) {
    return () => undefined
  }
  const waitedMilliseconds = ageMilliseconds < START_MILLISECONDS_MAX ? ageMilliseconds : 0
  const timer = setTimeout(() => {
    if (!response.isOpen) {
      exchange.note({ tooLateForFrontDoor: true })
      exchange.tellFailure(new UpstreamTimeoutError(), { isBilled: false })
      response.giveUp()
    }
  }, RESPONSE_MILLISECONDS_MAX - waitedMilliseconds)
  return () => clearTimeout(timer)
}
