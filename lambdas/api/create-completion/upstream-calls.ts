import { ClientGoneError } from '#adapters/relay/call-upstream.ts'
import { isSuccess, REFUSAL_BYTES_MAX, readAnswer } from '#adapters/relay/read-answer.ts'
import { ABANDONED_MILLISECONDS_MAX } from '#adapters/relay/bound-when-gone.ts'
import type { CompletionCall } from '#core/relay/completion-calls.ts'
import type { CompletionExchange, CompletionReply } from './completion-exchange.ts'

/** An upstream's 4xx about the request, to be relayed as it is. */
export class UpstreamRefusalError extends Error {
  override readonly name = 'UpstreamRefusalError'
  readonly status: number
  readonly contentType: string | undefined
  readonly text: string
  constructor({ status, contentType }: Pick<CompletionReply, 'status' | 'contentType'>, text: string) {
    super(`the upstream refused the request with ${status}`)
    this.status = status
    this.contentType = contentType
    this.text = text
  }
}

/** The calls of this request were given up, because one of them failed or the client left. */
class CallsEndedError extends Error {
  override readonly name = 'CallsEndedError'
}

type Call = CompletionCall & {
  /** Channels whose answer to this call came to nothing. */
  readonly failedChannels?: readonly string[]
}

/**
 * The chat calls of one request, which end together. When the client leaves, nothing more is sent, and what is under way is
 * read on for a bounded time.
 */
export class UpstreamCalls {
  readonly #exchange: CompletionExchange
  readonly #leaving = new AbortController()
  readonly #ending = Promise.withResolvers<never>()
  readonly #replies = new Set<CompletionReply>()
  readonly #called = new Set<number>()
  #isEnded = false
  #isAbandoned = false
  #patience: NodeJS.Timeout | undefined

  constructor(exchange: CompletionExchange) {
    this.#exchange = exchange
    this.#ending.promise.catch(() => undefined)
    const { gone } = exchange.answer
    if (gone.aborted) {
      this.#onGone()
    } else {
      gone.addEventListener('abort', this.#onGone, { once: true })
    }
  }

  /** Whether the calls were given up. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Whether another call may be made. */
  get mayCall(): boolean {
    return !this.#leaving.signal.aborted
  }

  /** Whether the client left and the calls were not read to their end. */
  get isAbandoned(): boolean {
    return this.#isAbandoned
  }

  /** Whether an upstream may have seen the prompt. */
  wasCalled(promptIndex: number): boolean {
    return this.#called.has(promptIndex)
  }

  /**
   * Calls an upstream for completions of one prompt.
   * @returns an answer of status 2xx; undefined when nothing was sent, because the client has left.
   * @throws UpstreamRefusalError, CallsEndedError, and what `callUpstream` throws.
   */
  async call(call: Call): Promise<CompletionReply | undefined> {
    const isFirst = !this.#called.has(call.promptIndex)
    this.#called.add(call.promptIndex)
    const reply = await this.#send(call)
    if (reply === undefined) {
      if (isFirst) {
        this.#called.delete(call.promptIndex)
      }
      return undefined
    }
    const { channel, upstreamRequestId, attempts } = reply
    this.#exchange.request.note({ channelId: channel.id, upstreamRequestId, attempts })
    if (!isSuccess(reply)) {
      throw new UpstreamRefusalError(reply, (await readAnswer(reply, REFUSAL_BYTES_MAX)).toString('utf8'))
    }
    return reply
  }

  /** The same promise, which no longer holds anyone up when the calls end. @throws CallsEndedError */
  async unlessEnded<Value>(promise: Promise<Value>): Promise<Value> {
    return await Promise.race([promise, this.#ending.promise])
  }

  /** Gives up whatever is under way; does nothing to answers that were read to their end. */
  end(): void {
    this.stopWaiting()
    this.#isEnded = true
    this.#leaving.abort()
    this.#ending.reject(new CallsEndedError('the calls were given up'))
    for (const reply of this.#replies) {
      reply.body.destroy()
    }
  }

  /** To be called when every call has come to its end. */
  stopWaiting(): void {
    clearTimeout(this.#patience)
    this.#exchange.answer.gone.removeEventListener('abort', this.#onGone)
  }

  async #send({ promptIndex, n, failedChannels = [] }: Call): Promise<CompletionReply | undefined> {
    const { request, completion, context, writeCall } = this.#exchange
    const pending = context.callUpstream({
      modelId: completion.model.id,
      path: '/chat/completions',
      tenantId: request.caller.tenantId,
      sessionId: request.sessionId,
      requestId: request.requestId,
      failedChannels,
      signal: this.#leaving.signal,
      body: (model) => writeCall({ promptIndex, n, model }),
    })
    pending.then(
      (reply) => this.#keep(reply),
      () => undefined,
    )
    try {
      return await this.unlessEnded(pending)
    } catch (error) {
      if (error instanceof ClientGoneError) {
        return undefined
      }
      throw error
    }
  }

  /** An answer may come after the calls have ended, when nobody waits for it. */
  #keep(reply: CompletionReply): void {
    if (this.#isEnded) {
      reply.body.destroy()
    } else {
      this.#replies.add(reply)
    }
  }

  readonly #onGone = (): void => {
    this.#leaving.abort()
    this.#patience = setTimeout(() => {
      this.#isAbandoned = true
      this.end()
    }, ABANDONED_MILLISECONDS_MAX)
  }
}
