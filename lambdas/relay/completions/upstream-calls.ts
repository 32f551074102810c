import type { ChatUsage } from '#core/quota/token-usage.ts'
import { ClientGoneError } from '../client-response.ts'
import { callUpstream, replyDeadline, type UpstreamCall } from '../failover.ts'
import { ABANDONED_MILLISECONDS_MAX } from '../leave-reply.ts'
import { readRefusal } from '../read-reply.ts'
import { usageWithinBounds } from '../report-usage.ts'
import { isSuccess, type UpstreamReply } from '../upstream-reply.ts'
import type { CompletionExchange, PromptRun } from './completion-exchange.ts'

/** An upstream's 4xx about the request, to be relayed as it is. */
export class UpstreamRefusalError extends Error {
  override readonly name = 'UpstreamRefusalError'
  readonly status: number
  readonly contentType: string | undefined
  readonly text: string
  constructor({ status, contentType }: Pick<UpstreamReply, 'status' | 'contentType'>, text: string) {
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

type Call = Pick<UpstreamCall, 'deadline'> &
  Partial<Pick<UpstreamCall, 'failedChannels'>> & {
    /** How many completions. */
    readonly n: number
  }

/** Ids of upstreams in a log line; a request with more prompts is found by its channel. */
const NOTED_IDS_MAX = 8

/**
 * The chat calls of one request, which end together. When the client leaves, nothing more is sent, and what is under way is
 * read on for a bounded time.
 */
export class UpstreamCalls {
  readonly #exchange: CompletionExchange
  readonly #leaving = new AbortController()
  readonly #givingUp = new AbortController()
  readonly #ending = Promise.withResolvers<never>()
  readonly #replies = new Set<UpstreamReply>()
  readonly #upstreamRequestIds: string[] = []
  #attempts = 0
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
    return this.#givingUp.signal.aborted
  }

  /** Whether another call may be made. */
  get mayCall(): boolean {
    return !this.#leaving.signal.aborted
  }

  /** Whether the client left and the calls were not read to their end. */
  get isAbandoned(): boolean {
    return this.#isAbandoned
  }

  /** By when a prompt that is begun now is to be answered. A client that has bytes of a stream waits anew for each prompt. */
  replyDeadline(): number {
    const { context, answer, request } = this.#exchange
    return replyDeadline(context, answer.isOpen ? performance.now() : request.receivedAt)
  }

  /**
   * Calls an upstream for completions of one prompt.
   * @returns an answer of status 2xx; undefined when nothing was sent, because the client has left.
   * @throws UpstreamRefusalError, CallsEndedError, and what `callUpstream` throws.
   */
  async call(prompt: PromptRun, call: Call): Promise<UpstreamReply | undefined> {
    const { isSent, isUnderWay } = prompt
    Object.assign(prompt, { isSent: true, isUnderWay: true })
    const pending = this.#send(prompt, call)
    pending.then(
      (reply) => this.#keep(reply),
      () => undefined,
    )
    let reply: UpstreamReply
    try {
      reply = await this.unlessEnded(pending)
    } catch (error) {
      if (error instanceof ClientGoneError) {
        Object.assign(prompt, { isSent, isUnderWay })
        return undefined
      }
      throw error
    }
    if (!isSuccess(reply)) {
      throw new UpstreamRefusalError(reply, (await readRefusal(reply, call.deadline)).toString('utf8'))
    }
    return reply
  }

  /** What a call for `n` completions reported, within the bounds of its model; what was above them is counted and logged. */
  withinBounds(usage: ChatUsage, { channel }: Pick<UpstreamReply, 'channel'>, n: number): ChatUsage {
    const { request, completion } = this.#exchange
    const call = { requestId: request.requestId, channelId: channel.id, model: completion.model, choices: n }
    return usageWithinBounds(usage, call)
  }

  /** The same promise, which no longer holds anyone up when the calls end. @throws CallsEndedError */
  async unlessEnded<Value>(promise: Promise<Value>): Promise<Value> {
    return await Promise.race([promise, this.#ending.promise])
  }

  /** From here on nothing more is sent; what is under way goes on. */
  stopSending(): void {
    this.#leaving.abort()
  }

  /** Gives up whatever is under way; does nothing to answers that were read to their end. */
  end(): void {
    this.stopWaiting()
    this.#ending.reject(new CallsEndedError('the calls were given up'))
    this.#leaving.abort()
    this.#givingUp.abort()
    for (const reply of this.#replies) {
      reply.body.destroy()
    }
  }

  /** To be called when every call has come to its end. */
  stopWaiting(): void {
    clearTimeout(this.#patience)
    this.#exchange.answer.gone.removeEventListener('abort', this.#onGone)
  }

  #send({ promptIndex }: PromptRun, { n, ...call }: Call): Promise<UpstreamReply> {
    const { request, completion, context, sendCall } = this.#exchange
    return callUpstream(context, {
      ...call,
      exchange: request,
      modelId: completion.model.id,
      path: '/chat/completions',
      signal: this.#leaving.signal,
      givenUp: this.#givingUp.signal,
      body: (model, channel) => sendCall({ promptIndex, n, model, channel }),
    })
  }

  /** An answer may come after the calls have ended, when nobody waits for it. */
  #keep(reply: UpstreamReply): void {
    if (this.isEnded) {
      reply.body.destroy()
      return
    }
    this.#replies.add(reply)
    this.#note(reply)
  }

  /** For the log line: the ids of all calls, and how many were made in all. */
  #note({ channel, upstreamRequestId, attempts }: UpstreamReply): void {
    this.#attempts += attempts
    if (upstreamRequestId !== undefined && this.#upstreamRequestIds.length < NOTED_IDS_MAX) {
      this.#upstreamRequestIds.push(upstreamRequestId)
    }
    this.#exchange.request.note({
      channelId: channel.id,
      // No id has a blank in it.
      upstreamRequestIds: this.#upstreamRequestIds.join(' ') || undefined,
      attempts: this.#attempts,
    })
  }

  readonly #onGone = (): void => {
    this.#leaving.abort()
    this.#patience = setTimeout(() => {
      this.#isAbandoned = true
      this.end()
    }, ABANDONED_MILLISECONDS_MAX)
  }
}
