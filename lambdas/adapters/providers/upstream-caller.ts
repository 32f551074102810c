import type { UpstreamAnswer, UpstreamLimits, UpstreamRequest } from './upstream-exchange.ts'
import type { UpstreamHttp } from './upstream-http.ts'

/** What every video provider is made of. */
export type VideoProviderDependencies = {
  /** The key of the channel, read anew for each call; an empty one for an upstream that needs none. */
  readonly credential: () => Promise<string>
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
}

export type UpstreamCaller = (call: UpstreamCall) => Promise<UpstreamAnswer>

/**
 * Calls one upstream account: base url, bearer key and JSON. Like `UpstreamHttp.send` it never rejects: without its key
 * a request is not sent.
 */
export function createUpstreamCaller(baseUrl: string, { credential, http }: VideoProviderDependencies): UpstreamCaller {
  return async ({ method, path, headers, body, limits }) => {
    let key: string
    try {
      key = await credential()
    } catch {
      return { kind: 'not_sent', reason: 'credential not available' }
    }
    return http.send({
      ...limits,
      method,
      url: `${baseUrl}${path}`,
      headers: {
        ...(key === '' ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  }
}
