import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import type { TokenCounts } from '#core/quota/token-counts.ts'
import { ClientGoneError } from '../client-response.ts'
import { callUpstream, replyDeadline } from '../failover.ts'
import { ABANDONED_MILLISECONDS_MAX } from '../leave-reply.ts'
import { readRefusal } from '../read-reply.ts'
import { usageWithinBounds } from '../report-usage.ts'
import { isSuccess, type UpstreamReply } from '../upstream-reply.ts'
import type { CompletionRun, PromptRun } from './completion-run.ts'

/** An upstream's 4xx about the request, which is relayed as it is. */
export class UpstreamRefusalError extends Error {
  override readonly name = 'UpstreamRefusalError'
  readonly status: number
  readonly text: string
  constructor({ status }: Pick<UpstreamReply, 'status'>, text: string) {
    super(`the upstream refused the request with ${status}`)
    this.status = status
    this.text = text
  }
}

type Call = {
  /** How many completions. */
  readonly n: number
  readonly deadline: number
  readonly failedChannels: readonly string[]
}

/** Upstreams' ids in a log line; a request with more prompts is found by its channel. */
const NOTED_IDS_MAX = 8

/**
 * The chat calls of one request, which end together. When the client leaves, nothing more is sent, and the replies that are
 * on their way are read on for a bounded time.
 */
export class PromptCalls {
  readonly #run: CompletionRun
  readonly #leaving = new AbortController()
  readonly #givingUp = new AbortController()
  readonly #over = Promise.withResolvers<void>()
  readonly #replies = new Set<UpstreamReply>()
  readonly #ignored = new Set<string>()
  readonly #upstreamRequestIds: string[] = []
  #attempts = 0
  #isAbandoned = false
  #patience: NodeJS.Timeout | undefined

  constructor(run: CompletionRun) {
    this.#run = run
    const { gone, ending } = run.exchange.response
    ending?.addEventListener('abort', this.#onEnding, { once: true })
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

  /** Resolves when no other call may be made. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  /** Whether another call may be made. */
  get mayCall(): boolean {
    return !this.#leaving.signal.aborted
  }

  /** Whether the client left and the calls were not read to their end. */
  get isAbandoned(): boolean {
    return this.#isAbandoned
  }

  /** When a prompt that starts now must be answered. A client that has bytes of a stream waits anew for each prompt. */
  replyDeadline(): number {
    const { context, exchange } = this.#run
    return replyDeadline(context, exchange.response.isOpen ? performance.now() : exchange.receivedAt)
  }

  /**
   * Calls an upstream for completions of one prompt.
   * @returns a reply of status 2xx; undefined when nothing was sent, because the client has left.
   * @throws UpstreamRefusalError, and what `callUpstream` throws.
   */
  async call(prompt: PromptRun, call: Call): Promise<UpstreamReply | undefined> {
    const { isSent, isUnderWay } = prompt
    Object.assign(prompt, { isSent: true, isUnderWay: true })
    let reply: UpstreamReply
    try {
      reply = await this.#send(prompt, call)
    } catch (error) {
      if (error instanceof ClientGoneError) {
        Object.assign(prompt, { isSent, isUnderWay })
        return undefined
      }
      throw error
    }
    this.#note(reply)
    this.#replies.add(reply)
    if (this.isEnded) {
      reply.body.destroy()
    }
    if (!isSuccess(reply)) {
      throw new UpstreamRefusalError(
        reply,
        (
          await readRefusal(reply, {
            deadline: call.deadline,
            hidden: hiddenFields(this.#run.context.catalogue.config),
          })
        ).toString('utf8'),
      )
    }
    return reply
  }

  /** Limits the usage of a call for `n` completions to the bounds of the model. A usage above them is logged and counted. */
  withinBounds(usage: TokenCounts, { channel }: Pick<UpstreamReply, 'channel'>, n: number): TokenCounts {
    const { exchange, completion } = this.#run
    const call = { requestId: exchange.requestId, channelId: channel.id, model: completion.model, choices: n }
    return usageWithinBounds(usage, call)
  }

  /** Gives up every call that has not ended. Replies that were read to their end are left alone. */
  end(): void {
    this.stopWaiting()
    this.#leave()
    this.#givingUp.abort()
    for (const reply of this.#replies) {
      reply.body.destroy()
    }
  }

  /** Releases timers and listeners. To be called when every call has ended. */
  stopWaiting(): void {
    clearTimeout(this.#patience)
    const { gone, ending } = this.#run.exchange.response
    gone.removeEventListener('abort', this.#onGone)
    ending?.removeEventListener('abort', this.#onEnding)
  }

  #send({ promptIndex }: PromptRun, { n, ...call }: Call): Promise<UpstreamReply> {
    const { exchange, completion, context, writeCall } = this.#run
    return callUpstream(context, {
      ...call,
      exchange,
      modelId: completion.model.id,
      path: '/chat/completions',
      signal: this.#leaving.signal,
      givenUp: this.#givingUp.signal,
      body: (model, channel) => {
        const { text, ignored } = writeCall({ promptIndex, n, model, channel })
        // Prompts may go to several channels: the client hears of every field that one of them leaves out.
        for (const name of ignored) {
          this.#ignored.add(name)
        }
        exchange.tellIgnored([...this.#ignored])
        return text
      },
    })
  }

  /** Notes the upstreams' ids of all calls, and the number of attempts. */
  #note(reply: UpstreamReply): void {
    const { upstreamRequestId } = reply
    this.#attempts += reply.attempts
    if (upstreamRequestId !== undefined && this.#upstreamRequestIds.length < NOTED_IDS_MAX) {
      this.#upstreamRequestIds.push(upstreamRequestId)
    }
    this.#run.exchange.noteReply({ ...reply, upstreamRequestId: undefined, attempts: this.#attempts })
    // No id contains a blank.
    this.#run.exchange.note({ upstreamRequestIds: this.#upstreamRequestIds.join(' ') || undefined })
  }

  #leave(): void {
    this.#leaving.abort()
    this.#over.resolve()
  }

  readonly #onEnding = (): void => this.end()

  readonly #onGone = (): void => {
    this.#leave()
    this.#patience = setTimeout(() => {
      this.#isAbandoned = true
      this.end()
    }, ABANDONED_MILLISECONDS_MAX)
  }
}
