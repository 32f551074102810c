import type { AnswerWriter } from './relay-request.ts'

/** A proxy on the way may take a silent connection for a dead one; API Gateway does so after five minutes. */
const KEEP_ALIVE_MILLISECONDS = 15_000

/** A comment, which clients skip (HTML standard, event streams). */
const KEEP_ALIVE = ': keep-alive\n\n'

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** The data of the one event that a client gets in place of the rest of an answer. */
export const BROKEN_ANSWER = JSON.stringify({
  error: { message: 'the upstream broke off its answer', type: 'server_error', param: null, code: 'upstream_error' },
})

/** The one event that a client gets in place of the rest of an answer when the function's time is nearly up. */
export const OUT_OF_TIME = `data: ${JSON.stringify({
  error: {
    message: 'the answer took too long and ends here',
    type: 'server_error',
    param: null,
    code: 'answer_timeout',
  },
})}\n\n`

/** Sends events to the client. Opens the answer with the first, so that until then a failure can have a status of its own. */
export class EventSender {
  readonly #answer: AnswerWriter
  #keepAlive: NodeJS.Timeout | undefined

  constructor(answer: AnswerWriter) {
    this.#answer = answer
  }

  /** From here on a comment breaks each quarter of a minute of silence. */
  keepAlive(): void {
    this.#keepAlive ??= setInterval(() => this.write(KEEP_ALIVE), KEEP_ALIVE_MILLISECONDS)
  }

  /** False when the client is behind: {@link drained} tells when there is room again. */
  write(events: Buffer | string): boolean {
    if (!this.#answer.isOpen) {
      this.#answer.open({ statusCode: 200, headers: STREAM_HEADERS })
    }
    this.#keepAlive?.refresh()
    return this.#answer.gone.aborted || this.#answer.write(events)
  }

  drained(): Promise<void> {
    return this.#answer.drained()
  }

  /** Resolves when there is room for more. */
  async send(events: string): Promise<void> {
    if (events !== '' && !this.write(events)) {
      await this.drained()
    }
  }

  /** Sends the last events and ends the answer. */
  end(events = ''): void {
    if (events !== '') {
      this.write(events)
    }
    this.stop()
    this.#answer.end()
  }

  /** To be called in the end, whatever happened. */
  stop(): void {
    clearInterval(this.#keepAlive)
  }
}
