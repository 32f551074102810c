import { isRequestId } from '#core/ids.ts'
import { isJsonObject } from '#core/json/json-object.ts'
import {
  exchangeWhole,
  type WholeLimits,
  type WholeOutcome,
  type WholeRequest,
  type WholeResponse,
} from '../../http/exchange-whole.ts'
import { createHttpClient } from '../../http/http-client.ts'
import { measureUpstreamCall } from '../../telemetry/upstream-calls.ts'
import { errorClassOfStatus } from '../../telemetry/upstream-errors.ts'
import { parseJson } from './json-reading.ts'

/** Sends requests to video upstreams. `send` never rejects. */
export interface UpstreamHttp {
  send(request: WholeRequest): Promise<WholeOutcome>
  /** Closes every connection. */
  close(): void
}

const CONNECT_MILLISECONDS_MAX = 5_000

/** A submit must end well before its function does (40 s), or a lost reply would look like a crash. */
export const SUBMIT_LIMITS: WholeLimits = {
  connectMilliseconds: CONNECT_MILLISECONDS_MAX,
  totalMilliseconds: 25_000,
  bytesMax: 1_048_576,
  connection: 'own',
}

/** Replies about finished tasks repeat the prompt and nested replies, and need more room than a submit. */
export const POLL_LIMITS: WholeLimits = {
  connectMilliseconds: CONNECT_MILLISECONDS_MAX,
  totalMilliseconds: 15_000,
  bytesMax: 2_097_152,
  connection: 'pooled',
}

/** A cancel changes the upstream's state: like a submit it is sent once, over its own connection. */
export const CANCEL_LIMITS: WholeLimits = { ...POLL_LIMITS, connection: 'own' }

/** Creates the connections to video upstreams; a process needs one set. */
export function createUpstreamHttp(): UpstreamHttp {
  const client = createHttpClient()
  return {
    send: (request) => exchangeWhole(client, { ...request, headers: headersOf(request) }),
    close: () => client.close(),
  }
}

function headersOf({ headers, body }: WholeRequest): WholeRequest['headers'] {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  return { 'User-Agent': 'reelgate', 'Accept-Encoding': 'identity', ...headers, ...length }
}

/**
 * Adds to each call the id of the client request that created the job, as `x-client-request-id` like a relayed request, and
 * measures each call, failed ones by their class.
 */
export function createJobUpstreamHttp(
  http: UpstreamHttp,
  { channelId, requestId }: { readonly channelId: string; readonly requestId: string | undefined },
): UpstreamHttp {
  const identity = isRequestId(requestId) ? { 'X-Client-Request-Id': requestId } : {}
  return {
    async send(request) {
      const startedAt = performance.now()
      const outcome = await http.send({ ...request, headers: { ...request.headers, ...identity } })
      const errorClass = outcome.kind === 'response' ? classOfReply(outcome) : classOfSilence(outcome)
      measureUpstreamCall({ channelId, milliseconds: performance.now() - startedAt, errorClass })
      return outcome
    },
    close: () => http.close(),
  }
}

function classOfReply({ status, text }: WholeResponse) {
  // The reply to a cancel may have no body.
  const isOdd = status < 400 && text !== '' && !isJsonObject(parseJson(text))
  return isOdd ? 'odd_body' : errorClassOfStatus(status)
}

function classOfSilence({ kind, reason }: Exclude<WholeOutcome, WholeResponse>) {
  if (kind === 'not_sent') {
    return 'connect_error'
  }
  return reason === 'timeout' ? 'timeout' : 'broken_answer'
}
