import { connect, type Socket } from 'node:net'
import { AnswerReader } from './answer-reader.ts'

/** Where a load goes, and the bytes of its one request. */
export type LoadTarget = { readonly hostname: string; readonly port: number; readonly request: Buffer }

/** How one request ended; times as of `performance.now()`, milliseconds. */
export type Outcome = {
  /** When the request was due; a closed loop sends it right then. */
  readonly dueAt: number
  readonly endedAt: number
  /** First byte of the answer's body; `endedAt` when there is none. */
  readonly firstByteAt: number
  readonly status: number
  readonly bodyBytes: number
  /** Why there is no whole answer. */
  readonly failure?: string
}

type Events = {
  /** Called when a request can be sent: after the connection stands, and after each answer. */
  readonly onIdle: (connection: LoadConnection) => void
  readonly onOutcome: (outcome: Outcome) => void
}

/** A server may close a kept connection; a new one is tried after this pause. */
const RECONNECT_MILLISECONDS = 5

/** One kept connection with at most one request on its way, over a bare socket: an HTTP client would cost more than some servers. */
export class LoadConnection {
  readonly #target: LoadTarget
  readonly #events: Events
  #socket: Socket
  #reader = new AnswerReader()
  #isConnected = false
  #isClosed = false
  #dueAt: number | undefined
  #firstByteAt: number | undefined

  constructor(target: LoadTarget, events: Events) {
    this.#target = target
    this.#events = events
    this.#socket = this.#connect()
  }

  get isIdle(): boolean {
    return this.#isConnected && this.#dueAt === undefined
  }

  /** Sends the request now; its times count from when it was due. */
  send(dueAt: number): void {
    this.#dueAt = dueAt
    this.#firstByteAt = undefined
    this.#reader = new AnswerReader()
    this.#socket.write(this.#target.request)
  }

  /** A request on its way is given up without an outcome. */
  close(): void {
    this.#isClosed = true
    this.#socket.destroy()
  }

  #connect(): Socket {
    const { hostname, port } = this.#target
    const socket = connect({ host: hostname, port, noDelay: true })
    let reason = 'the connection closed'
    socket.on('connect', () => {
      this.#isConnected = true
      this.#events.onIdle(this)
    })
    socket.on('data', (bytes) => this.#onData(bytes))
    socket.on('error', (error: Error & { code?: unknown }) => {
      reason = String(error.code ?? error.message)
    })
    socket.on('close', () => this.#onClose(reason))
    return socket
  }

  #onData(bytes: Buffer): void {
    const now = performance.now()
    try {
      this.#reader.push(bytes)
    } catch (error) {
      this.#socket.destroy(error instanceof Error ? error : undefined)
      return
    }
    if (this.#reader.bodyBytes > 0) {
      this.#firstByteAt ??= now
    }
    if (this.#reader.isEnded) {
      this.#finish(now)
      this.#events.onIdle(this)
    }
  }

  #onClose(reason: string): void {
    this.#isConnected = false
    if (this.#isClosed) {
      return
    }
    this.#finish(performance.now(), reason)
    setTimeout(() => {
      if (!this.#isClosed) {
        this.#socket = this.#connect()
      }
    }, RECONNECT_MILLISECONDS)
  }

  #finish(endedAt: number, failure?: string): void {
    if (this.#dueAt === undefined) {
      return
    }
    const { status, bodyBytes } = this.#reader
    const outcome = { dueAt: this.#dueAt, endedAt, firstByteAt: this.#firstByteAt ?? endedAt, status, bodyBytes }
    this.#dueAt = undefined
    this.#events.onOutcome(failure === undefined ? outcome : { ...outcome, failure })
  }
}
