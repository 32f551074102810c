import { ResponseBrokenError } from '#adapters/http/response-broken-error.ts'
import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import type { FieldTree } from '#core/json/field-tree.ts'
import { parseJsonObject } from '#core/json/json-object.ts'
import { withoutHidden } from '#core/json/remove-fields.ts'
import { ChatStreamBrokenError } from '#core/relay/chat-stream-broken-error.ts'
import { CompletionStream } from '#core/relay/completion-stream.ts'
import { EndlessEventError } from '#core/relay/sse-events.ts'
import type { PromptProgress } from '#core/relay/streamed-prompt.ts'
import { EventSender, UPSTREAM_BROKE_OFF } from '../event-sender.ts'
import { ReplyTooLargeError } from '../large-reply.ts'
import { reportCutReply } from '../leave-reply.ts'
import type { UpstreamReply } from '../upstream-reply.ts'
import {
  CallCutError,
  type CompletionEnd,
  type CompletionEnding,
  type CompletionForm,
  type CompletionRun,
  type PromptReply,
} from './completion-run.ts'
import { PROMPTS_AT_ONCE } from './for-each-prompt.ts'
import { type PromptCalls, UpstreamRefusalError } from './prompt-calls.ts'
import { readEvents } from './read-events.ts'

/** Characters of events that are held for the first byte: 4 MiB for each of the first prompts. What comes above it has to wait. */
const HELD_CHARACTERS_MAX = PROMPTS_AT_ONCE * 4 * 1024 * 1024

/**
 * One stream in which the completions of all prompts are sent as they arrive. Nothing is sent before each of the first
 * prompts has an upstream that takes it: until then a refusal, a failure or the lack of a channel has its own status. A reply
 * that ends or breaks off before that waits for the first byte, so that what it generated is delivered and billed, and so that
 * no further prompt is sent for a request that may still fail for free.
 */
export class StreamedCompletion implements CompletionForm {
  readonly leftCall = 'abandoned'
  readonly #run: CompletionRun
  readonly #calls: PromptCalls
  readonly #stream: CompletionStream
  readonly #sender: EventSender
  /** The first prompts that have no reply yet. */
  readonly #awaited: Set<number>
  readonly #opened = Promise.withResolvers<void>()
  #held = ''

  constructor(run: CompletionRun, calls: PromptCalls) {
    this.#run = run
    this.#calls = calls
    this.#stream = new CompletionStream(run.completion, run.fallback)
    this.#sender = new EventSender(run.exchange.response)
    this.#awaited = new Set(run.completion.prompts.slice(0, PROMPTS_AT_ONCE).keys())
  }

  async read(promptIndex: number, promptReply: PromptReply): Promise<number> {
    try {
      return await this.#relayReply(promptIndex, promptReply)
    } finally {
      await this.#firstByte()
    }
  }

  async #relayReply(promptIndex: number, { reply, n }: PromptReply): Promise<number> {
    try {
      await this.#noteReplied(promptIndex)
      await this.#relayEvents(promptIndex, reply).finally(() => {
        // A call that breaks off is billed by its usage too.
        this.#stream.limitUsage(promptIndex, (usage) => this.#calls.withinBounds(usage, reply, n))
      })
      const { text, missing } = this.#stream.endCall(promptIndex)
      reply.completed()
      await this.#send(text)
      return missing
    } catch (error) {
      throw this.#giveUp(promptIndex, reply, error)
    }
  }

  /** A reply that broke off before anything of it was written may start anew elsewhere, because the client saw nothing. */
  restart(promptIndex: number): boolean {
    const isUnseen = !this.#stream.hasBegun(promptIndex)
    if (isUnseen) {
      this.#stream.restartCall(promptIndex)
    }
    return isUnseen
  }

  progress(promptIndex: number): PromptProgress {
    return this.#stream.progress(promptIndex)
  }

  end(how: CompletionEnd, { failure, cost }: CompletionEnding): void {
    const hidden = hiddenFields(this.#run.context.catalogue.config)
    const last = {
      whole: () => this.#stream.finish(cost),
      broken: () => errorEvent(failure, hidden),
      abandoned: () => '',
    }
    this.#sender.end(last[how]())
    this.#run.exchange.note({ streamEnd: how })
  }

  stop(): void {
    this.#sender.stop()
  }

  async #relayEvents(promptIndex: number, reply: UpstreamReply): Promise<void> {
    for await (const payload of readEvents(reply, {
      publicModel: this.#run.completion.model.id,
      hidden: hiddenFields(this.#run.context.catalogue.config),
    })) {
      await this.#send(this.#stream.push(promptIndex, payload))
      if (this.#stream.isDone(promptIndex)) {
        return
      }
    }
  }

  async #noteReplied(promptIndex: number): Promise<void> {
    if (this.#awaited.delete(promptIndex) && this.#awaited.size === 0 && !this.#calls.isEnded) {
      const events = this.#held
      this.#held = ''
      this.#opened.resolve()
      this.#sender.keepAlive()
      await this.#sender.send(events)
    }
  }

  async #send(events: string): Promise<void> {
    if (this.#awaited.size === 0 || this.#run.exchange.response.gone.aborted) {
      await this.#sender.send(events)
      return
    }
    this.#held += events
    if (this.#held.length > HELD_CHARACTERS_MAX) {
      await this.#firstByte()
    }
  }

  /** Resolves when the first byte may be sent, or when there will be none because the client has left or a call has failed. */
  async #firstByte(): Promise<void> {
    await Promise.race([this.#opened.promise, this.#calls.over])
  }

  /** The breaker hears of a reply that broke off, but not of one that was given up. @returns what to throw. */
  #giveUp(promptIndex: number, reply: UpstreamReply, error: unknown): unknown {
    reply.body.destroy()
    if (!isUpstreamsFault(error)) {
      return error
    }
    const isEventCut = error instanceof EndlessEventError && error.hasData
    if (isEventCut) {
      reportCutReply(reply, 'event bytes')
    }
    if (!this.#calls.isEnded) {
      reply.failed()
    }
    if (isEventCut) {
      return new CallCutError(error, { usage: this.#stream.progress(promptIndex).underWay.usage })
    }
    if (error instanceof ReplyTooLargeError) {
      return CallCutError.ofLarge(error)
    }
    const payload = error instanceof ChatStreamBrokenError ? error.payload : undefined
    return new ChatStreamBrokenError(payload && reply.withoutCredentials(payload), { cause: error })
  }
}

function isUpstreamsFault(error: unknown): boolean {
  return [ChatStreamBrokenError, ResponseBrokenError, UpstreamFailedError, EndlessEventError].some(
    (kind) => error instanceof kind,
  )
}

/** One event with the error, in the upstream's own words where it has any about the request. */
function errorEvent(error: unknown, hidden: FieldTree): string {
  const own = error instanceof ChatStreamBrokenError ? error.payload : undefined
  const refusal = error instanceof UpstreamRefusalError ? error.text : undefined
  return `data: ${errorPayload(own ?? refusal, hidden) ?? UPSTREAM_BROKE_OFF}\n\n`
}

/** The error on one line, as an event needs it. Undefined for a string that is no JSON object with an error. */
function errorPayload(text: string | undefined, hidden: FieldTree): string | undefined {
  const parsed = parseJsonObject(text ?? '')
  return parsed !== undefined && 'error' in parsed
    ? withoutHidden(JSON.stringify({ error: parsed.error }), hidden)
    : undefined
}
