import { ResponseBrokenError } from '#adapters/http/response-body.ts'
import type { CompletionRequest } from '#core/contract/completion-request.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import { ChatStreamBrokenError } from '#core/relay/chat-stream-broken-error.ts'
import type { CompletionStream } from '#core/relay/completion-stream.ts'
import { EndlessEventError } from '#core/relay/sse-events.ts'
import type { EventSender } from '../event-sender.ts'
import { ReplyTooLargeError } from '../large-reply.ts'
import { reportCutReply } from '../leave-reply.ts'
import type { UpstreamReply } from '../upstream-reply.ts'
import { PROMPTS_AT_ONCE, type PromptRun, REPEATS_MAX } from './completion-exchange.ts'
import { keepCut } from './keep-cut.ts'
import { readEvents } from './read-events.ts'
import { type UpstreamCalls, UpstreamRefusalError } from './upstream-calls.ts'

/**
 * What is taken in of an answer that waits for those of other prompts: more than an upstream writes in the minutes that
 * they may take. Its connection is then in no danger of being taken for a dead one.
 */
const WAITING_BYTES_MAX = 4 * 1024 * 1024

type Streamed = {
  readonly completion: CompletionRequest
  readonly calls: UpstreamCalls
  readonly stream: CompletionStream
  readonly sender: EventSender
}

/** The prompts of a streamed completion: each is asked for, and its events are written into the one stream as they come. */
export class StreamedPrompts {
  readonly #streamed: Streamed
  readonly #firstWave: Set<number>
  readonly #firstWaveReplied = Promise.withResolvers<void>()
  /** Set when a prompt is refused before anything was written; resolves when what has come of the others was read. */
  #refusal: Promise<void> | undefined

  constructor(streamed: Streamed) {
    this.#streamed = streamed
    this.#firstWave = new Set(streamed.completion.prompts.slice(0, PROMPTS_AT_ONCE).keys())
  }

  /**
   * Relays the completions of one prompt. Ends early when the client has left, or when another prompt was refused before
   * anything was written: what has come by then is read for its bill, and written to nobody.
   * @throws ChatStreamBrokenError, and what {@link UpstreamCalls.call} throws.
   */
  async relay(prompt: PromptRun): Promise<void> {
    try {
      await this.#relayCalls(prompt)
    } catch (error) {
      if (error instanceof UpstreamRefusalError && this.#firstWave.size > 0) {
        this.#refusal ??= this.#readWhatHasCome()
        await this.#refusal
      } else if (error instanceof ChatStreamBrokenError && this.#refusal !== undefined) {
        return
      }
      throw error
    }
  }

  /**
   * Lets the answers that wait for the refused prompt go on for a turn of the event loop, in which everything that is held of
   * them is read, and has no more calls sent.
   */
  async #readWhatHasCome(): Promise<void> {
    this.#streamed.calls.stopSending()
    this.#firstWaveReplied.resolve()
    await new Promise(setImmediate)
  }

  async #relayCalls(prompt: PromptRun): Promise<void> {
    const { calls, completion } = this.#streamed
    const deadline = calls.replyDeadline()
    let missing = completion.n
    for (let call = 0; call <= REPEATS_MAX && missing > 0; call += 1) {
      const left = await this.#relayCall(prompt, { n: missing, deadline })
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
    prompt.isWhole = true
  }

  /**
   * One call, on the first channel whose answer begins: an answer that breaks off before anything of it was written may be
   * begun anew elsewhere, because nobody saw it.
   * @returns how many completions are still missing; undefined when nothing was sent, because the client has left.
   */
  async #relayCall(
    prompt: PromptRun,
    call: { readonly n: number; readonly deadline: number },
  ): Promise<number | undefined> {
    const { calls, stream } = this.#streamed
    const { promptIndex } = prompt
    const failedChannels: string[] = []
    for (;;) {
      const reply = await calls.call(prompt, { ...call, failedChannels })
      await this.#waitForFirstWave(promptIndex, reply)
      if (reply === undefined) {
        return undefined
      }
      try {
        const missing = await this.#relayReply(promptIndex, reply, call.n)
        prompt.isUnderWay = false
        return missing
      } catch (error) {
        const broken = this.#giveUp(reply, error)
        if (broken instanceof CallCutError) {
          const large = error instanceof ReplyTooLargeError ? error.reply : undefined
          const { usage } = stream.progress(promptIndex).underWay
          keepCut(prompt, large ?? { usage }, (reported) => calls.withinBounds(reported, reply, call.n))
          throw broken
        }
        if (stream.hasBegun(promptIndex) || !calls.mayCall) {
          throw broken
        }
        stream.restartCall(promptIndex)
        failedChannels.push(reply.channel.id)
      }
    }
  }

  async #relayReply(promptIndex: number, reply: UpstreamReply, n: number): Promise<number> {
    const { stream, calls } = this.#streamed
    try {
      for await (const payload of readEvents(reply, this.#streamed.completion.model.id)) {
        await this.#send(stream.push(promptIndex, payload))
        if (stream.isDone(promptIndex)) {
          break
        }
      }
    } finally {
      // A call that breaks off is billed by its usage too.
      stream.limitUsage(promptIndex, (usage) => calls.withinBounds(usage, reply, n))
    }
    const { text, missing } = stream.endCall(promptIndex)
    reply.completed()
    await this.#send(text)
    return missing
  }

  async #send(events: string): Promise<void> {
    if (this.#refusal === undefined) {
      await this.#streamed.sender.send(events)
    }
  }

  /** The breaker hears of an answer that broke off, but not of one that was given up. @throws what is no upstream's fault. */
  #giveUp(reply: UpstreamReply, error: unknown): ChatStreamBrokenError {
    reply.body.destroy()
    if (!isUpstreamsFault(error)) {
      throw error
    }
    const isEventCut = error instanceof EndlessEventError && error.hasData
    if (isEventCut) {
      reportCutReply(reply, 'event bytes')
    }
    if (!this.#streamed.calls.isEnded) {
      reply.failed()
    }
    if (isEventCut || error instanceof ReplyTooLargeError) {
      return new CallCutError(undefined, { cause: error })
    }
    const payload = error instanceof ChatStreamBrokenError ? error.payload : undefined
    return new ChatStreamBrokenError(payload && reply.withoutCredentials(payload), { cause: error })
  }

  /**
   * Nothing is written before each of the first prompts has an upstream that takes it: a request that is refused or finds
   * no channel is then still told so with a status.
   */
  async #waitForFirstWave(promptIndex: number, reply: UpstreamReply | undefined): Promise<void> {
    const { calls, sender } = this.#streamed
    const isLast = this.#firstWave.delete(promptIndex) && this.#firstWave.size === 0
    if (isLast) {
      sender.keepAlive()
    }
    if (isLast || reply === undefined) {
      this.#firstWaveReplied.resolve()
    }
    reply?.body.hold(WAITING_BYTES_MAX)
    await calls.unlessEnded(this.#firstWaveReplied.promise)
  }
}

/** Our own bound cut what an upstream sends. It would send the same again, and so would another. */
export class CallCutError extends ChatStreamBrokenError {}

function isUpstreamsFault(error: unknown): boolean {
  return [ChatStreamBrokenError, ResponseBrokenError, UpstreamFailedError, EndlessEventError].some(
    (kind) => error instanceof kind,
  )
}
