import { credentialFilter } from '#core/without-credentials.ts'
import type { UpstreamAnswer, UpstreamLimits, UpstreamRequest } from '../../http/upstream-exchange.ts'
import { parseJson } from './json-reading.ts'
import { isKeyRefused, readUpstreamError } from './upstream-error.ts'
import type { UpstreamHttp } from './upstream-http.ts'

/** What every video provider is made of. */
export type VideoProviderDependencies = {
  /** The key of the channel, read anew for each call; an empty one for an upstream that needs none. */
  readonly credential: () => Promise<string>
  /**
   * The key that has replaced the one that the upstream refused; undefined when there is none, or none was found in so
   * many milliseconds. It never rejects. Left out where keys do not change.
   */
  readonly renewedCredential?: ((refused: string, millisecondsMax: number) => Promise<string | undefined>) | undefined
  readonly http: UpstreamHttp
  /** Unix time in milliseconds, for dates in `Retry-After`; `Date.now` when left out. */
  readonly now?: (() => number) | undefined
}

/** One call below the base url of a channel. `path` begins with a slash, its ids are escaped. */
type UpstreamCall = {
  readonly method: UpstreamRequest['method']
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
  readonly limits: UpstreamLimits
  /** Of a submit: where this upstream puts the id of a new task. An answer that holds one is never asked for again. */
  readonly readTaskId?: (body: unknown) => string | undefined
}

/** One call of the account that it was made for. */
export type UpstreamCaller = (call: UpstreamCall) => Promise<UpstreamAnswer>

/**
 * Calls one upstream account: base url, bearer key and JSON. Like `UpstreamHttp.send` it never rejects: without its key
 * a request is not sent. One whose key was refused is sent once more when the key has been replaced since it was read:
 * whoever refuses a key has not looked at the request, so that this holds for submits too, unless the refusal names a task.
 * Whatever the upstream says goes to the client in the end, so that its answers leave here without the keys that were sent.
 */
export function createUpstreamCaller(baseUrl: string, dependencies: VideoProviderDependencies): UpstreamCaller {
  const { credential, renewedCredential, http } = dependencies
  return async (call) => {
    let key: string
    try {
      key = await credential()
    } catch {
      return { kind: 'not_sent', reason: 'credential not available' }
    }
    const startedAt = performance.now()
    const answer = await http.send(requestOf(baseUrl, call, key))
    // Both tries and the look for a key share the time of one: whoever waits for the call counts on its limit.
    const remaining = () => call.limits.timeouts.totalMilliseconds - (performance.now() - startedAt)
    const newKey = hasRefusedKey(answer, call) ? await renewedCredential?.(key, remaining()) : undefined
    if (newKey === undefined || remaining() <= 0) {
      return withoutKeys(answer, [key])
    }
    const timeouts = { ...call.limits.timeouts, totalMilliseconds: remaining() }
    return withoutKeys(await http.send({ ...requestOf(baseUrl, call, newKey), timeouts }), [key, newKey])
  }
}

function withoutKeys(answer: UpstreamAnswer, keys: readonly string[]): UpstreamAnswer {
  return answer.kind === 'response' ? { ...answer, text: credentialFilter(keys)(answer.text) } : answer
}

function requestOf(
  baseUrl: string,
  { method, path, headers, body, limits }: UpstreamCall,
  key: string,
): UpstreamRequest {
  return {
    ...limits,
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

function hasRefusedKey(answer: UpstreamAnswer, { readTaskId }: UpstreamCall): boolean {
  if (answer.kind !== 'response') {
    return false
  }
  const body = parseJson(answer.text)
  return isKeyRefused(answer.status, readUpstreamError(body)) && readTaskId?.(body) === undefined
}
