import type { ClientResponse } from './client-response.ts'

/** A proxy may take a silent connection for a dead one; API Gateway does so after five minutes. */
const KEEP_ALIVE_MILLISECONDS = 15_000

/** A comment, which clients skip (HTML standard, event streams). */
const KEEP_ALIVE = ': keep-alive\n\n'

/** Headers of a stream of events: no proxy keeps, changes or gathers it. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** The one event that stands for the rest of a response when the upstream breaks off. */
export const UPSTREAM_BROKE_OFF = `data: ${JSON.stringify({
  error: { message: 'the upstream broke off its answer', type: 'server_error', param: null, code: 'upstream_error' },
})}\n\n`

/** The one event that stands for the rest of a response when the function's time is nearly up. */
export const OUT_OF_TIME = `data: ${JSON.stringify({
  error: {
    message: 'the answer took too long and ends here',
    type: 'server_error',
    param: null,
    code: 'answer_timeout',
  },
})}\n\n`

/** Sends events to the client. Opens the response with the first event: a failure before it can have a status of its own. */
export class EventSender {
  readonly #response: ClientResponse
  #keepAlive: NodeJS.Timeout | undefined

  constructor(response: ClientResponse) {
    this.#response = response
  }

  /** From now on sends a comment after every {@link KEEP_ALIVE_MILLISECONDS} of silence. */
  keepAlive(): void {
    this.#keepAlive ??= setInterval(() => this.write(KEEP_ALIVE), KEEP_ALIVE_MILLISECONDS)
  }

  /** False when the client is behind; {@link drained} resolves when there is room again. */
  write(events: Buffer | string): boolean {
    if (!this.#response.isOpen) {
      this.#response.open({ statusCode: 200, headers: STREAM_HEADERS })
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

  /** Stops the comments. To be called at the end of every stream, even after a failure. */
  stop(): void {
    clearInterval(this.#keepAlive)
    this.#keepAlive = undefined
  }
}
