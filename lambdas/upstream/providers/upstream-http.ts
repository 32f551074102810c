import { isRequestId } from '#core/ids.ts'
import { isJsonObject } from '#core/json/parse-json-text.ts'
import { isKeyRefused, parseJson, readUpstreamError } from '#core/providers/reply-reading.ts'
import { credentialFilter } from '#core/redaction.ts'
import {
  createHttpClient,
  exchangeWhole,
  type WholeLimits,
  type WholeOutcome,
  type WholeRequest,
  type WholeResponse,
} from '../../platform/http/http-client.ts'
import { errorClassOfStatus, measureUpstreamCall } from '../measures.ts'

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
  return reason === 'timeout' ? 'timeout' : 'broken_reply'
}

/** What every account needs. */
export type VideoAccountDependencies = {
  /** Reads the key of the channel before each call. An empty key is for an upstream that needs none. */
  readonly credential: () => Promise<string>
  /**
   * The key that has replaced the one the upstream refused; undefined when there is none, or none was found in the given
   * time. Never rejects. Omitted where keys do not change.
   */
  readonly renewedCredential?: ((refused: string, millisecondsMax: number) => Promise<string | undefined>) | undefined
  readonly http: UpstreamHttp
  /** Unix time in milliseconds, for dates in `Retry-After`. `Date.now` by default. */
  readonly now?: (() => number) | undefined
}

/** One call below the base URL of a channel. `path` begins with a slash, and its ids are escaped. */
type AccountCall = {
  readonly method: WholeRequest['method']
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
  readonly limits: WholeLimits
  /** For a submit: reads the id of a new task. A call whose reply holds one is never repeated. */
  readonly readTaskId?: (body: unknown) => string | undefined
}

/** Calls the account that it was created for. */
export type AccountCaller = (call: AccountCall) => Promise<WholeOutcome>

/**
 * Creates a caller of one upstream account: base URL, bearer key and JSON. Like `UpstreamHttp.send` it never rejects; without
 * its key a request is not sent.
 *
 * When the key was refused and has been replaced since it was read, the request is sent once more. An upstream that refuses a
 * key has not looked at the request, so this holds for submits too, unless the refusal names a task.
 *
 * The upstream's reply eventually reaches the client, so the keys are removed from every reply.
 */
export function createAccountCaller(baseUrl: string, dependencies: VideoAccountDependencies): AccountCaller {
  const { credential, renewedCredential, http } = dependencies
  return async (call) => {
    let key: string
    try {
      key = await credential()
    } catch {
      return { kind: 'not_sent', reason: 'credential not available' }
    }
    const startedAt = performance.now()
    const first = await http.send(requestOf(baseUrl, call, key))
    // Both tries and the search for a key share the time of one call, because the caller relies on its limit.
    const remaining = () => call.limits.totalMilliseconds - (performance.now() - startedAt)
    const newKey = hasRefusedKey(first, call) ? await renewedCredential?.(key, remaining()) : undefined
    if (newKey === undefined || remaining() <= 0) {
      return withoutKeys(first, [key])
    }
    const limits = { ...call.limits, totalMilliseconds: remaining() }
    return withoutKeys(await http.send(requestOf(baseUrl, { ...call, limits }, newKey)), [key, newKey])
  }
}

function withoutKeys(outcome: WholeOutcome, keys: readonly string[]): WholeOutcome {
  return outcome.kind === 'response' ? { ...outcome, text: credentialFilter(keys)(outcome.text) } : outcome
}

function requestOf(baseUrl: string, { method, path, headers, body, limits }: AccountCall, key: string): WholeRequest {
  return {
    limits,
    method,
    url: `${baseUrl}${path}`,
    headers: {
      ...(key === '' ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  }
}

function hasRefusedKey(outcome: WholeOutcome, { readTaskId }: AccountCall): boolean {
  if (outcome.kind !== 'response') {
    return false
  }
  const body = parseJson(outcome.text)
  return isKeyRefused(outcome.status, readUpstreamError(body)) && readTaskId?.(body) === undefined
}
