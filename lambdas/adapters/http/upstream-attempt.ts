import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { request as requestTls } from 'node:https'
import type { Socket } from 'node:net'
import type { OutgoingPost, UpstreamTarget } from './outgoing-post.ts'
import { UpstreamBody } from './upstream-body.ts'

/** The head of an answer and, as it arrives, its body. */
export type UpstreamAnswer = {
  readonly kind: 'answer'
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Pick<UpstreamBody, keyof UpstreamBody>
}

/** What became of a post. `reason` is a code or a few words of ours: never a url, a key or a body. */
export type PostOutcome =
  | UpstreamAnswer
  /** No byte of the request left: look-up, refused connection, TLS, connect timeout. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** The request, or a part of it, left, and its connection ended without the head of an answer. */
  | { readonly kind: 'no_answer'; readonly reason: string }
  /** The request left, and no head came in time: the upstream may be at work. */
  | { readonly kind: 'first_byte_timeout' }
  /** The signal fired before a byte of the request left. */
  | { readonly kind: 'aborted' }
  /** The caller gave it up; the upstream may have the request. */
  | { readonly kind: 'given_up' }

/** `isStale`: a connection of the pool broke at once, without a byte of an answer: its upstream had closed it while idle. */
export type Attempted = { readonly outcome: PostOutcome; readonly isStale: boolean }

const STALE_CONNECTION_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])

/**
 * By when a connection that was closed while idle shows it: one round trip after the first byte, of which the longest on
 * earth take about 300 ms. An upstream that hangs up later may be at work, and gets no request twice.
 */
const STALE_MILLISECONDS_MAX = 500

/** Sends one post over one connection, from the pool or new; never rejects. */
export function attemptPost(target: UpstreamTarget, post: OutgoingPost): Promise<Attempted> {
  if (post.givenUp?.aborted === true || post.signal?.aborted === true) {
    const kind = post.givenUp?.aborted === true ? 'given_up' : 'aborted'
    return Promise.resolve({ outcome: { kind }, isStale: false })
  }
  try {
    return new Attempt(openRequest(target, post), post, target.isTls).attempted
  } catch (error) {
    // Headers that HTTP cannot carry: a key with a line break.
    return Promise.resolve({ outcome: { kind: 'not_sent', reason: reasonOf(error) }, isStale: false })
  }
}

function openRequest({ isTls, hostname, port, path, agent }: UpstreamTarget, { headers }: OutgoingPost): ClientRequest {
  return (isTls ? requestTls : request)({ method: 'POST', hostname, port, path, agent, headers })
}

/** Node writes the first byte in the very event that ends a connection's set-up: before that event nothing was sent. */
class Attempt {
  readonly attempted: Promise<Attempted>
  readonly #resolve: (attempted: Attempted) => void
  readonly #outgoing: ClientRequest
  readonly #post: OutgoingPost
  readonly #isTls: boolean
  readonly #startedAt = performance.now()
  #isConnected: boolean
  #isSettled = false
  #hasHeard = false
  #timer: NodeJS.Timeout | undefined
  #body: UpstreamBody | undefined

  constructor(outgoing: ClientRequest, post: OutgoingPost, isTls: boolean) {
    const { promise, resolve } = Promise.withResolvers<Attempted>()
    this.attempted = promise
    this.#resolve = resolve
    this.#outgoing = outgoing
    this.#post = post
    this.#isTls = isTls
    post.givenUp?.addEventListener('abort', this.#onGivenUp, { once: true })
    // The agent decides while the request is made.
    this.#isConnected = outgoing.reusedSocket
    if (this.#isConnected) {
      this.#awaitHead()
    } else {
      this.#timer = setTimeout(() => this.#fail('connect timeout'), this.#atMost(post.timeouts.connectMilliseconds))
      post.signal?.addEventListener('abort', this.#onAbort, { once: true })
    }
    outgoing.once('socket', (socket) => this.#onSocket(socket))
    outgoing.on('error', (error) => this.#fail(reasonOf(error)))
    outgoing.once('close', () => this.#onClose())
    outgoing.once('response', (incoming) => this.#onHead(incoming))
    outgoing.end(post.body)
  }

  #onSocket(socket: Socket): void {
    if (this.#isConnected) {
      // Whatever becomes of the connection, this listener goes with its first bytes or with itself.
      socket.once('data', () => {
        this.#hasHeard = true
      })
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
      this.#post.signal?.removeEventListener('abort', this.#onAbort)
      this.#awaitHead()
    }
  }

  #awaitHead(): void {
    this.#timer = setTimeout(
      () => this.#settle({ kind: 'first_byte_timeout' }),
      this.#atMost(this.#post.timeouts.firstByteMilliseconds),
    )
  }

  /** So long, or until the deadline. */
  #atMost(milliseconds: number): number {
    const { deadline } = this.#post
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
    this.#body = new UpstreamBody(incoming, this.#outgoing, this.#post.timeouts.idleMilliseconds)
    this.#settle({ kind: 'answer', status, headers: incoming.headers, body: this.#body })
  }

  /** Once there is a head, its body knows better: a connection may close before a whole answer was read. */
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
      this.#settle({ kind: 'no_answer', reason }, this.#isStale(reason))
    }
  }

  #isStale(reason: string): boolean {
    const isAtOnce = performance.now() - this.#startedAt < STALE_MILLISECONDS_MAX
    return isAtOnce && this.#outgoing.reusedSocket && !this.#hasHeard && STALE_CONNECTION_CODES.has(reason)
  }

  #settle(outcome: PostOutcome, isStale = false): void {
    if (this.#isSettled) {
      return
    }
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#post.signal?.removeEventListener('abort', this.#onAbort)
    this.#post.givenUp?.removeEventListener('abort', this.#onGivenUp)
    if (outcome.kind !== 'answer') {
      this.#outgoing.destroy()
    }
    this.#resolve({ outcome, isStale })
  }
}

/** Messages of Node name hosts and addresses; its codes do not. */
function reasonOf(error: unknown): string {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? error.code : 'connection error'
}
