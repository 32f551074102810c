import type { AbortNotice } from '#core/abort-notice.ts'
import { type ErrorFacts, type ErrorForm, upstreamError } from '#core/api/error-form.ts'
import { NO_SNIFFING } from '#core/http.ts'

/** Status and headers of a response, as the client gets them. */
export type ResponseHead = {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  /** The one event that stands for the rest of a stream when its time is up. */
  readonly outOfTime?: () => string
}

/** The response to a relayed request. Nothing reaches the client before `open`; no method throws because the client left. */
export interface ClientResponse {
  open(head: ResponseHead): void
  /** False when the client is behind; {@link drained} resolves when there is room again. */
  write(chunk: Buffer | string): boolean
  drained(): Promise<void>
  /** To be called after the last byte. */
  end(): void
  readonly isOpen: boolean
  /** Undefined before `open`. */
  readonly statusCode?: number | undefined
  /** Whether every byte is held until `end`. */
  readonly isBuffered?: boolean
  /** Fires when the client has left, or when the function's time is nearly up: nothing more is sent, and the request is settled soon. */
  readonly gone: AbortNotice
  /**
   * Fires after {@link gone} when the process ends: no upstream is waited for, and what the client got is billed at once. Undefined for a
   * function, which its platform lets finish.
   */
  readonly ending?: AbortNotice
}

/** Whether the client has left a process that goes on: what an upstream is at work on is owed then. */
export function hasLeft({ gone, ending }: Pick<ClientResponse, 'gone' | 'ending'>): boolean {
  return gone.aborted && ending?.aborted !== true
}

/** The client left while no upstream was working on its request: the request was never sent, or every channel refused it. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError'
}

/** The headers that every relayed response carries besides those of its body. */
export class ResponseHeaders {
  readonly #requestId: string
  readonly #receivedAt: number
  readonly #added: Record<string, string> = {}
  #firstByteMilliseconds: number | undefined

  /** @param receivedAt when the request arrived, as a time of `performance.now()`. */
  constructor(requestId: string, receivedAt = performance.now()) {
    this.#requestId = requestId
    this.#receivedAt = receivedAt
  }

  /** Adds headers to a response that is not open yet; an undefined value removes one. */
  add(headers: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(headers)) {
      delete this.#added[name]
      if (value !== undefined) {
        this.#added[name] = value
      }
    }
  }

  /** All headers of a response that opens now, with `own` first. */
  complete(own: ResponseHead['headers']): Record<string, string> {
    const elapsed = Math.round(performance.now() - this.#receivedAt)
    this.#firstByteMilliseconds = elapsed
    const timing = { 'x-request-id': this.#requestId, 'openai-processing-ms': String(elapsed) }
    return { ...own, ...this.#added, ...timing, ...NO_SNIFFING }
  }

  /** How long the client waited for the head of its response; undefined when it got none. */
  get firstByteMilliseconds(): number | undefined {
    return this.#firstByteMilliseconds
  }
}

/** A proxy may take a silent connection for a dead one; API Gateway does so after five minutes. */
export const KEEP_ALIVE_MILLISECONDS = 15_000

/** A comment, which clients skip (HTML standard, event streams). */
const KEEP_ALIVE = ': keep-alive\n\n'

/** Headers of a stream of events: no proxy keeps, changes or gathers it. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

const OUT_OF_TIME: ErrorFacts = {
  statusCode: 504,
  message: 'the answer took too long and ends here',
  type: 'server_error',
  param: null,
  code: 'answer_timeout',
}

/** Sends events to the client. Opens the response with the first event: a failure before it can have a status of its own. */
export class EventSender {
  readonly #response: ClientResponse
  readonly #errors: ErrorForm
  readonly #signOfLife: string
  #keepAlive: NodeJS.Timeout | undefined
  /** Writes the event that stands for the rest of a stream, where it depends on the events before. */
  failure: ((error: ErrorFacts) => string) | undefined

  /** @param signOfLife what a client gets during silence. */
  constructor(response: ClientResponse, errors: ErrorForm, signOfLife = KEEP_ALIVE) {
    this.#response = response
    this.#errors = errors
    this.#signOfLife = signOfLife
  }

  /** The one event that stands for the rest of a stream when the upstream breaks off. */
  get brokeOff(): string {
    return this.#last(upstreamError('the upstream broke off its answer'))
  }

  /** The one event that stands for the rest of a stream when its time is up. */
  get outOfTime(): string {
    return this.#last(OUT_OF_TIME)
  }

  #last(error: ErrorFacts): string {
    return this.failure?.(error) ?? this.#errors.event(this.#errors.body(error))
  }

  /** From now on sends a sign of life after every {@link KEEP_ALIVE_MILLISECONDS} of silence. */
  keepAlive(): void {
    this.#keepAlive ??= setInterval(() => this.write(this.#signOfLife), KEEP_ALIVE_MILLISECONDS)
  }

  /** False when the client is behind; {@link drained} resolves when there is room again. */
  write(events: Buffer | string): boolean {
    if (!this.#response.isOpen) {
      this.#response.open({ statusCode: 200, headers: STREAM_HEADERS, outOfTime: () => this.outOfTime })
    }
    this.#keepAlive?.refresh()
    return this.#response.gone.aborted || this.#response.write(events)
  }

  drained(): Promise<void> {
    return this.#response.drained()
  }

  /** Resolves when there is room for more. */
  async send(events: string): Promise<void> {
    if (events !== '' && !this.write(events)) {
      await this.drained()
    }
  }

  /** Sends the last events and ends the response. */
  end(events = ''): void {
    if (events !== '') {
      this.write(events)
    }
    this.stop()
    this.#response.end()
  }

  /** Stops the signs of life. To be called at the end of every stream, even after a failure. */
  stop(): void {
    clearInterval(this.#keepAlive)
    this.#keepAlive = undefined
  }
}
