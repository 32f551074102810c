import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request,
} from 'node:http'
import { request as requestTls } from 'node:https'
import type { Socket } from 'node:net'
import type { AbortNotice } from '#core/abort-notice.ts'
import { ResponseBody } from './response-body.ts'

/**
 * The header fields of a request as Node takes a list of them: names and values in turns. Node writes a list as it is, at once, while it
 * keeps each header of an object first. So the list has to be complete, and to name each header once, whatever the case: the last value
 * counts.
 */
export function headerLines({ method, headers, body }: HttpRequest, host: string): string[] {
  const lines: string[] = []
  const places = new Map<string, number>()
  for (const name in headers) {
    const field = name.toLowerCase()
    const place = places.get(field) ?? lines.length
    places.set(field, place)
    lines[place] = name
    lines[place + 1] = headers[name] ?? ''
  }
  if (!places.has('host')) {
    lines.push('Host', host)
  }
  // Node would send a POST of unknown length in chunks, which not every server takes.
  if ((body !== undefined || method === 'POST') && !places.has('content-length')) {
    lines.push('Content-Length', String(Buffer.byteLength(body ?? '')))
  }
  return lines
}

/** The head of a response, and its body as it arrives. */
export type HttpResponse = {
  readonly kind: 'response'
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Pick<ResponseBody, keyof ResponseBody>
}

/** The outcome of a request. `reason` is an error code or a fixed phrase, and never holds a URL, a key or a body. */
export type SendOutcome =
  | HttpResponse
  /** No byte of the request was sent: name lookup, refused connection, TLS, connect timeout. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** At least a part of the request was sent, and the connection ended before the head of a response. */
  | { readonly kind: 'no_response'; readonly reason: string }
  /** The request was sent, and no head arrived in time. The server may be working on it. */
  | { readonly kind: 'first_byte_timeout' }
  /** `signal` fired before a byte of the request was sent. */
  | { readonly kind: 'aborted' }
  /** `givenUp` fired. The server may have the request. */
  | { readonly kind: 'given_up' }

/** `isStale`: the server had closed the pooled connection while it was idle, so the request may go over another one. */
export type SentOnce = { readonly outcome: SendOutcome; readonly isStale: boolean }

const STALE_CONNECTION_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])

/**
 * A connection that was closed while idle fails within one round trip of the first byte, and the longest round trips on
 * earth take about 300 ms. A server that hangs up later may be working on the request.
 */
const STALE_MILLISECONDS_MAX = 500

/** Sends a request over one connection and resolves with the head of the response. Never rejects. */
export function sendOnce(target: HttpTarget, request: HttpRequest): Promise<SentOnce> {
  if (request.givenUp?.aborted === true || request.signal?.aborted === true) {
    const kind = request.givenUp?.aborted === true ? 'given_up' : 'aborted'
    return Promise.resolve({ outcome: { kind }, isStale: false })
  }
  try {
    return new Attempt(openRequest(target, request), request, target.isTls).sent
  } catch (error) {
    // HTTP cannot carry the headers: a key with a line break, for example.
    return Promise.resolve({ outcome: { kind: 'not_sent', reason: reasonOf(error) }, isStale: false })
  }
}

function openRequest({ isTls, host, options }: HttpTarget, outgoing: HttpRequest): ClientRequest {
  const { method } = outgoing
  return (isTls ? requestTls : request)({ ...options, method, headers: headerLines(outgoing, host) })
}

/** Node writes the first byte in the event that completes the connection: until that event, nothing was sent. */
class Attempt {
  readonly sent: Promise<SentOnce>
  readonly #resolve: (sent: SentOnce) => void
  readonly #outgoing: ClientRequest
  readonly #request: HttpRequest
  readonly #isTls: boolean
  readonly #startedAt = performance.now()
  #isConnected: boolean
  #isSettled = false
  #hasReceived = false
  #timer: NodeJS.Timeout | undefined
  #body: ResponseBody | undefined

  constructor(outgoing: ClientRequest, request: HttpRequest, isTls: boolean) {
    const { promise, resolve } = Promise.withResolvers<SentOnce>()
    this.sent = promise
    this.#resolve = resolve
    this.#outgoing = outgoing
    this.#request = request
    this.#isTls = isTls
    request.givenUp?.addEventListener('abort', this.#onGivenUp, { once: true })
    // The agent has already chosen the connection.
    this.#isConnected = outgoing.reusedSocket
    if (this.#isConnected) {
      this.#awaitHead()
    } else {
      this.#timer = setTimeout(() => this.#fail('connect timeout'), this.#atMost(request.timeouts.connectMilliseconds))
      request.signal?.addEventListener('abort', this.#onAbort, { once: true })
    }
    outgoing.once('socket', (socket) => this.#onSocket(socket))
    outgoing.on('error', (error) => this.#fail(reasonOf(error)))
    outgoing.once('close', () => this.#onClose())
    outgoing.once('response', (incoming) => this.#onHead(incoming))
    outgoing.end(request.body)
  }

  #onSocket(socket: Socket): void {
    if (this.#isConnected) {
      if (this.#request.isRepeatable !== true) {
        // The listener leaves with the first bytes or with the connection itself.
        socket.once('data', () => {
          this.#hasReceived = true
        })
      }
    } else if (this.#isTls || socket.connecting) {
      socket.once(this.#isTls ? 'secureConnect' : 'connect', () => this.#onConnected())
    } else {
      this.#onConnected()
    }
  }

  #onConnected(): void {
    if (!this.#isSettled) {
      this.#isConnected = true
      clearTimeout(this.#timer)
      this.#request.signal?.removeEventListener('abort', this.#onAbort)
      this.#awaitHead()
    }
  }

  #awaitHead(): void {
    this.#timer = setTimeout(
      () => this.#settle({ kind: 'first_byte_timeout' }),
      this.#atMost(this.#request.timeouts.firstByteMilliseconds),
    )
  }

  /** The given time, or less where the deadline comes first. */
  #atMost(milliseconds: number): number {
    const { deadline } = this.#request
    return deadline === undefined ? milliseconds : Math.max(1, Math.min(milliseconds, deadline - performance.now()))
  }

  readonly #onAbort = (): void => this.#settle({ kind: 'aborted' })
  readonly #onGivenUp = (): void => this.#settle({ kind: 'given_up' })

  #onHead(incoming: IncomingMessage): void {
    const { statusCode: status } = incoming
    if (this.#isSettled || status === undefined) {
      this.#outgoing.destroy()
      return
    }
    this.#body = new ResponseBody(incoming, this.#outgoing, this.#request.timeouts.idleMilliseconds)
    this.#settle({ kind: 'response', status, headers: incoming.headers, body: this.#body })
  }

  /** After the head, the body decides: a connection may close before a whole body was read. */
  #onClose(): void {
    if (this.#body === undefined) {
      this.#fail('connection closed')
    }
  }

  #fail(reason: string): void {
    if (this.#body !== undefined) {
      this.#body.fail(reason)
    } else if (!this.#isConnected) {
      this.#settle({ kind: 'not_sent', reason })
    } else {
      this.#settle({ kind: 'no_response', reason }, this.#isStale(reason))
    }
  }

  #isStale(reason: string): boolean {
    if (!this.#outgoing.reusedSocket || !STALE_CONNECTION_CODES.has(reason)) {
      return false
    }
    const isAtOnce = performance.now() - this.#startedAt < STALE_MILLISECONDS_MAX
    return this.#request.isRepeatable === true || (isAtOnce && !this.#hasReceived)
  }

  #settle(outcome: SendOutcome, isStale = false): void {
    if (this.#isSettled) {
      return
    }
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#request.signal?.removeEventListener('abort', this.#onAbort)
    this.#request.givenUp?.removeEventListener('abort', this.#onGivenUp)
    if (outcome.kind !== 'response') {
      this.#outgoing.destroy()
    }
    this.#resolve({ outcome, isStale })
  }
}

/** Node's error messages name hosts and addresses; its codes do not. */
function reasonOf(error: unknown): string {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? error.code : 'connection error'
}

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

/** The pipeline decides about longer waits. */
const RETRY_AFTER_SECONDS_MAX = 3_600

/**
 * Reads the `Retry-After` header, which holds seconds or an HTTP date (RFC 9110, 10.2.3), as whole seconds from now, rounded up
 * and at most an hour. Undefined when it is missing or unreadable.
 */
export function retryAfterSeconds(header: string | undefined, nowUnixMilliseconds: number): number | undefined {
  const text = header?.trim() ?? ''
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (Date.parse(text) - nowUnixMilliseconds) / 1_000
  return Number.isNaN(seconds) ? undefined : Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(0, Math.ceil(seconds)))
}
