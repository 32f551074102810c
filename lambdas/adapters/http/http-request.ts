import type { RequestOptions } from 'node:http'
import type { AbortNotice } from '#core/abort-notice.ts'

/** The limits of one exchange with streaming, in milliseconds. */
type HttpTimeouts = {
  /** Name lookup, TCP and TLS together. A pooled connection is already open. */
  readonly connectMilliseconds: number
  /** From the open connection to the head of the response. */
  readonly firstByteMilliseconds: number
  /** Between two chunks of the body. Omitted where the reader bounds the whole body itself. */
  readonly idleMilliseconds?: number
}

/** One request, complete with its credentials. The body is sent unchanged. */
export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `Host` and `Content-Length` are added where they are missing. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  readonly timeouts: HttpTimeouts
  /** When the head of the response must have arrived, in addition to the timeouts: a time of `performance.now()`. */
  readonly deadline?: number | undefined
  /** Cancels the request until the connection is open; has no effect afterwards. */
  readonly signal?: AbortNotice | undefined
  /** Cancels the request until the head of the response arrives. After that, the reader destroys the body instead. */
  readonly givenUp?: AbortNotice | undefined
  /** The request may reach the server twice without harm, so it replaces a broken pooled connection at any time. */
  readonly isRepeatable?: boolean | undefined
}

/** Where a request goes and over which connection. */
export type HttpTarget = {
  /** The request sets TLS up itself. False for a connection that is handed over with TLS already set up. */
  readonly isTls: boolean
  /** Sent as `Host`, unless the request has its own. */
  readonly host: string
  readonly options: Pick<RequestOptions, 'hostname' | 'port' | 'path' | 'agent' | 'createConnection'>
}
