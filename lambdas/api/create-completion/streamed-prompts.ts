import type { EventSender } from '#adapters/relay/event-sender.ts'
import type { CompletionRequest } from '#core/contract/completion-request.ts'
import { ChatStreamBrokenError, type CompletionStream } from '#core/relay/completion-stream.ts'
import { type CompletionReply, PROMPTS_AT_ONCE, REPEATS_MAX } from './completion-exchange.ts'
import { readEvents } from './read-events.ts'
import type { UpstreamCalls } from './upstream-calls.ts'

/** Channels that one call may go to, each after the one before broke off; no model has more. */
const CHANNELS_TRIED_MAX = 16

type Streamed = {
  readonly completion: CompletionRequest
  readonly calls: UpstreamCalls
  readonly stream: CompletionStream
  readonly sender: EventSender
}

/** The prompts of a streamed completion: each is asked for, and its events are written into the one stream as they come. */
export class StreamedPrompts {
  readonly #streamed: Streamed
  readonly #whole = new Set<number>()
  readonly #firstWave: number
  readonly #replied = new Set<number>()
  readonly #firstWaveReplied = Promise.withResolvers<void>()

  constructor(streamed: Streamed) {
    this.#streamed = streamed
    this.#firstWave = Math.min(streamed.completion.prompts.length, PROMPTS_AT_ONCE)
  }

  isWhole(promptIndex: number): boolean {
    return this.#whole.has(promptIndex)
  }

  get areWhole(): boolean {
    return this.#whole.size === this.#streamed.completion.prompts.length
  }

  /**
   * Relays the completions of one prompt. Ends early when the client has left.
   * @throws ChatStreamBrokenError, and what {@link UpstreamCalls.call} throws.
   */
  async relay(promptIndex: number): Promise<void> {
    const { calls, completion } = this.#streamed
    let missing = completion.n
    for (let call = 0; call <= REPEATS_MAX && missing > 0; call += 1) {
      const left = await this.#relayCall(promptIndex, missing)
      if (left === undefined) {
        return
      }
      missing = left
      if (missing > 0 && !calls.mayCall) {
        return
      }
    }
    if (missing > 0) {
      throw new ChatStreamBrokenError()
    }
    this.#whole.add(promptIndex)
  }

  /**
   * One call, on the first channel whose answer begins: an answer that breaks off before anything of it was written may be
   * begun anew elsewhere, because nobody saw it.
   * @returns how many completions are still missing; undefined when nothing was sent, because the client has left.
   */
  async #relayCall(promptIndex: number, n: number): Promise<number | undefined> {
    const { calls, stream } = this.#streamed
    const failedChannels: string[] = []
    while (failedChannels.length < CHANNELS_TRIED_MAX) {
      const reply = await calls.call({ promptIndex, n, failedChannels })
      await this.#waitForFirstWave(promptIndex, reply)
      if (reply === undefined) {
        return undefined
      }
      try {
        return await this.#relayReply(promptIndex, reply)
      } catch (error) {
        const broken = this.#giveUp(reply, error)
        if (broken.payload !== undefined || stream.hasBegun(promptIndex) || !calls.mayCall) {
          throw broken
        }
        stream.restartCall(promptIndex)
        failedChannels.push(reply.channel.id)
      }
    }
    throw new ChatStreamBrokenError()
  }

  async #relayReply(promptIndex: number, reply: CompletionReply): Promise<number> {
    const { stream, sender } = this.#streamed
    for await (const payload of readEvents(reply)) {
      await sender.send(stream.push(promptIndex, payload))
      if (stream.isDone(promptIndex)) {
        break
      }
    }
    const { text, missing } = stream.endCall(promptIndex)
    reply.completed()
    await sender.send(text)
    return missing
  }

  /** The breaker hears of an answer that broke off, but not of one that was given up. */
  #giveUp(reply: CompletionReply, error: unknown): ChatStreamBrokenError {
    reply.body.destroy()
    if (!this.#streamed.calls.isEnded) {
      reply.failed()
    }
    return error instanceof ChatStreamBrokenError ? error : new ChatStreamBrokenError(undefined, { cause: error })
  }

  /**
   * Nothing is written before each of the first prompts has an upstream that takes it: a request that is refused or finds
   * no channel is then still told so with a status.
   */
  async #waitForFirstWave(promptIndex: number, reply: CompletionReply | undefined): Promise<void> {
    const { calls, sender } = this.#streamed
    this.#replied.add(promptIndex)
    if (this.#replied.size === this.#firstWave) {
      sender.keepAlive()
    }
    if (this.#replied.size === this.#firstWave || reply === undefined) {
      this.#firstWaveReplied.resolve()
    }
    await calls.unlessEnded(this.#firstWaveReplied.promise)
  }
}
