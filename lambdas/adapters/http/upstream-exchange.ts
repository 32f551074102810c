import * as http from 'node:http'
import * as https from 'node:https'

/** How long one call may take, in milliseconds from its start. */
type UpstreamTimeouts = {
  /** Name look-up, TCP and TLS together. */
  readonly connectMilliseconds: number
  /** Until the last byte of the answer, a second try included. */
  readonly totalMilliseconds: number
}

/** How long a call may take, how much of its answer is read, and over which connection it goes. */
export type UpstreamLimits = {
  readonly timeouts: UpstreamTimeouts
  readonly answerBytesMax: number
  /**
   * `fresh` opens a connection for this call alone, so that a failure tells whether bytes of the request left.
   * `kept` may reuse one that the upstream has closed in the meantime, and then tries once more: for reads only.
   */
  readonly connection: 'fresh' | 'kept'
}

/** One request, complete with its credentials; a body is sent as it is. */
export type UpstreamRequest = UpstreamLimits & {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** `text` is every byte of the body, decoded as UTF-8, a byte order mark included. Redirects are answers like any other. */
export type UpstreamResponse = {
  readonly kind: 'response'
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

/** `reason` is an error code or a few words of ours: never a url, a key or a body. */
export type UpstreamAnswer =
  | UpstreamResponse
  /** No byte of the request left: look-up, refused connection, TLS, connect timeout. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** The request, or a part of it, left, and no whole answer came back. */
  | { readonly kind: 'no_answer'; readonly reason: string }

/** Where connections come from, by protocol. */
export type Agents = { readonly http: http.Agent; readonly https: https.Agent }

/** One try over one connection of the agents. */
export type Exchange = { readonly request: UpstreamRequest; readonly url: URL; readonly agents: Agents }

/** `isStaleConnection`: a reused connection broke before an answer began, as it does when the upstream closed it while idle. */
export type Exchanged = { readonly answer: UpstreamAnswer; readonly isStaleConnection: boolean }

const STALE_CONNECTION_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])

/**
 * Sends a request and reads the whole answer; never rejects. Node writes the first byte in the very event that ends a
 * connection's set-up, so a failure before that event is `not_sent` and any later one `no_answer`.
 */
export function exchange({ request, url, agents }: Exchange): Promise<Exchanged> {
  return new Promise((resolve) => {
    let phase: 'connecting' | 'sent' | 'answering' | 'settled' = 'connecting'
    const outgoing = openRequest({ request, url, agents })
    if ('reason' in outgoing) {
      resolve({ answer: { kind: 'not_sent', reason: outgoing.reason }, isStaleConnection: false })
      return
    }
    const settle = (answer: UpstreamAnswer, isStaleConnection: boolean) => {
      phase = 'settled'
      clearTimeout(connectTimer)
      clearTimeout(totalTimer)
      if (answer.kind !== 'response' || request.connection === 'fresh') {
        outgoing.destroy()
      }
      resolve({ answer, isStaleConnection })
    }
    const fail = (reason: string) => {
      if (phase !== 'settled') {
        const isStale = phase === 'sent' && outgoing.reusedSocket && STALE_CONNECTION_CODES.has(reason)
        settle({ kind: phase === 'connecting' ? 'not_sent' : 'no_answer', reason }, isStale)
      }
    }
    const connectTimer = setTimeout(() => fail('connect timeout'), request.timeouts.connectMilliseconds)
    const totalTimer = setTimeout(() => fail('timeout'), request.timeouts.totalMilliseconds)
    whenConnected(outgoing, url, () => {
      phase = phase === 'connecting' ? 'sent' : phase
      clearTimeout(connectTimer)
    })
    outgoing.on('error', (error) => fail(reasonOf(error)))
    outgoing.once('close', () => fail('connection closed'))
    outgoing.once('response', (incoming) => {
      phase = phase === 'settled' ? phase : 'answering'
      readAnswer(incoming, request.answerBytesMax, { done: (answer) => settle(answer, false), fail })
    })
    outgoing.end(request.body)
  })
}

/** The request, not yet ended; a reason for headers that HTTP cannot carry (a key with a line break). */
function openRequest({ request, url, agents }: Exchange): http.ClientRequest | { readonly reason: string } {
  const length = request.body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(request.body)) }
  const headers = { 'User-Agent': 'reelgate', 'Accept-Encoding': 'identity', ...request.headers, ...length }
  try {
    return url.protocol === 'https:'
      ? https.request(url, { method: request.method, headers, agent: agents.https })
      : http.request(url, { method: request.method, headers, agent: agents.http })
  } catch (error) {
    return { reason: reasonOf(error) }
  }
}

function whenConnected(outgoing: http.ClientRequest, url: URL, connected: () => void): void {
  const isTls = url.protocol === 'https:'
  outgoing.once('socket', (socket) => {
    if (!outgoing.reusedSocket && (isTls || socket.connecting)) {
      socket.once(isTls ? 'secureConnect' : 'connect', connected)
    } else {
      connected()
    }
  })
}

type AnswerEnd = { readonly done: (answer: UpstreamResponse) => void; readonly fail: (reason: string) => void }

function readAnswer(incoming: http.IncomingMessage, bytesMax: number, { done, fail }: AnswerEnd): void {
  const chunks: Buffer[] = []
  let bytes = 0
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bytesMax) {
      fail('answer too large')
    } else {
      chunks.push(chunk)
    }
  })
  incoming.on('error', (error) => fail(reasonOf(error)))
  incoming.once('close', () => fail('answer cut short'))
  incoming.once('end', () => {
    const { statusCode: status, headers } = incoming
    if (status === undefined || !incoming.complete) {
      fail('answer cut short')
    } else if (bytes <= bytesMax) {
      done({ kind: 'response', status, headers, text: Buffer.concat(chunks).toString('utf8') })
    }
  })
}

/** Messages of Node name hosts and addresses; its codes do not. */
function reasonOf(error: unknown): string {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? error.code : 'connection error'
}
