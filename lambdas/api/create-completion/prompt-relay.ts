import { Abort } from '#core/abort-notice.ts'
import type { CompletionRequest } from '#core/contract/completion-request.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import type { FieldTree } from '#core/json/field-tree.ts'
import { parseJsonObject } from '#core/json/json-object.ts'
import { ZERO } from '#core/money/money.ts'
import { completionCharge, type PromptBounds, type PromptEnd } from '#core/quota/completion-cost.ts'
import { sumOfTokenCounts, type TokenCounts } from '#core/quota/token-counts.ts'
import { believedUsage, readTokenUsage } from '#core/quota/token-usage.ts'
import { ChatStream } from '#core/relay/chat-stream.ts'
import type { WriteCompletionCall } from '#core/relay/completion-calls.ts'
import {
  type ChatChoices,
  type CompletionHead,
  CompletionWriter,
  readChatChoices,
  toEvent,
} from '#core/relay/completion-reply.ts'
import { CompletionStream } from '#core/relay/completion-stream.ts'
import { isEventStream } from '#core/relay/event-stream-type.ts'
import { DO_NOT_RETRY } from '#core/should-retry.ts'
import type { Bill } from '../../relay/bill-request.ts'
import { ClientGoneError, hasLeft } from '../../relay/client-response.ts'
import { costHeaders } from '../../relay/cost-headers.ts'
import { EventSender, UPSTREAM_BROKE_OFF } from '../../relay/event-sender.ts'
import { callUpstream, replyDeadline } from '../../relay/failover.ts'
import { ReplyTooLargeError } from '../../relay/large-reply.ts'
import { boundWhenGone } from '../../relay/leave-reply.ts'
import { tokensOf } from '../../relay/measure-request.ts'
import { readRefusal, readSuccess, refuseReply } from '../../relay/read-reply.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { RelayExchange } from '../../relay/relay-exchange.ts'
import { NothingRelayedError, relayEvents, type StreamEnd } from '../../relay/relay-stream.ts'
import { usageWithinBounds } from '../../relay/report-usage.ts'
import { sendWhole } from '../../relay/send-response.ts'
import { isSuccess, type UpstreamReply } from '../../relay/upstream-reply.ts'

/** The largest chat reply that is held: all completions that a request may ask for, at any model's length, stay below. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024

/** Bytes of all replies of one request whose completions are held, because the response is sent as a whole. */
const HELD_BYTES_MAX = 32 * 1024 * 1024

/** Upstreams' ids in a log line; a request with more prompts is found by its channel. */
const NOTED_IDS_MAX = 8

/** One legacy completion after its reservation. */
export type CompletionRun = {
  readonly exchange: RelayExchange
  readonly context: RelayContext
  readonly bill: Bill
  readonly completion: CompletionRequest
  /** Of each prompt's call. */
  readonly bounds: readonly PromptBounds[]
  /** What no client sees of a reply. */
  readonly hidden: FieldTree
  readonly writeCall: WriteCompletionCall
  /** Replaces an id and a time that an upstream leaves out. */
  readonly fallback: CompletionHead
}

/** An upstream's 4xx about the request, which is relayed as it is. */
class UpstreamRefusalError extends Error {
  override readonly name = 'UpstreamRefusalError'
  readonly status: number
  readonly body: Buffer
  constructor(status: number, body: Buffer) {
    super(`the upstream refused the request with ${status}`)
    this.status = status
    this.body = body
  }
}

/** The gateway's own bound cut a reply. Any upstream would send the same again, so no other channel is called. */
class PromptCutError extends UpstreamFailedError {}

/**
 * Asks an upstream for one prompt after the other, responds as a whole or as one stream, and says what the request costs. The
 * failure of one prompt fails the request, and no other prompt is sent. Before the first byte, a failure is a status, and free;
 * but if an upstream refuses a prompt, or sends more than the gateway holds, the prompts before it are billed. After the first
 * byte, one event with the error ends the stream.
 */
export class PromptRelay {
  readonly #run: CompletionRun
  readonly #writer: CompletionWriter
  readonly #sender: EventSender
  /** Fires when no reply is wanted any more: half a minute after the client has left, or when the process ends. */
  readonly #givenUp = new Abort()
  /** Of the prompts so far, in their order. */
  readonly #ends: PromptEnd[] = []
  /** The completions of a response that is sent as a whole. */
  readonly #choices: object[] = []
  #heldBytes = 0
  #reply: UpstreamReply | undefined
  #attempts = 0
  readonly #upstreamRequestIds: string[] = []
  readonly #ignored = new Set<string>()

  constructor(run: CompletionRun) {
    this.#run = run
    this.#writer = new CompletionWriter(run.completion, run.fallback)
    this.#sender = new EventSender(run.exchange.response)
  }

  /** @throws UpstreamFailedError, and what `callUpstream` throws. Nothing was sent to the client then. */
  async run(): Promise<void> {
    const { completion, exchange, bill } = this.#run
    const { response } = exchange
    const stopWaiting = boundWhenGone({ destroy: () => this.#giveUp() }, response)
    let end: Exclude<StreamEnd, 'cut'> = 'whole'
    let failure: unknown
    try {
      for (const promptIndex of completion.prompts.keys()) {
        end = response.gone.aborted ? 'abandoned' : await this.#relayPrompt(promptIndex)
        if (end !== 'whole') {
          break
        }
      }
    } catch (error) {
      failure = error
      end = error instanceof ClientGoneError || this.#isAbandoned ? 'abandoned' : 'broken'
    } finally {
      stopWaiting()
      this.#sender.stop()
    }
    if (failure !== undefined && end === 'broken' && !response.isOpen) {
      this.#refuse(failure)
      return
    }
    // Billed first, because the response shows the cost.
    this.#settle()
    const usage = sumOfUsages(this.#ends)
    if (completion.stream) {
      const last = end === 'broken' && failure !== undefined ? errorEvent(failure) : ''
      this.#sender.end(end === 'whole' ? this.#writer.end(usage, bill.cost) : last)
      exchange.note({ streamEnd: end })
    } else if (end === 'whole') {
      const body = Buffer.from(this.#writer.whole(this.#choices, usage, bill.cost))
      sendWhole(response, { statusCode: 200, body, headers: costHeaders(bill.cost) })
    }
  }

  /** A client that left, and for whom no reply was read to its end. */
  get #isAbandoned(): boolean {
    return this.#givenUp.aborted && hasLeft(this.#run.exchange.response)
  }

  #giveUp(): void {
    this.#givenUp.abort()
    this.#reply?.body.destroy()
  }

  /** Responds to a failure before the first byte. */
  #refuse(failure: unknown): void {
    const { bill, exchange } = this.#run
    if (failure instanceof PromptCutError || failure instanceof UpstreamRefusalError) {
      this.#settle()
    }
    if (!(failure instanceof UpstreamRefusalError)) {
      throw failure
    }
    const { status: statusCode, body } = failure
    // What was billed would be billed again.
    const headers = bill.isBilled ? { ...DO_NOT_RETRY, ...costHeaders(bill.cost) } : {}
    sendWhole(exchange.response, { statusCode, body, headers })
  }

  /** Bills the prompts as they ended. */
  #settle(): void {
    const { completion, bounds, bill, exchange } = this.#run
    const { isEstimated, ...charge } = completionCharge(completion.model, bounds, this.#ends)
    if (charge.amount === ZERO) {
      return
    }
    const usage = sumOfUsages(this.#ends)
    if (usage !== undefined) {
      exchange.note(tokensOf(usage))
    }
    if (isEstimated) {
      bill.settleByEstimate(charge)
    } else {
      bill.settle(charge)
    }
  }

  /** Relays one prompt by the first channel whose reply can be used. A client that has bytes of a stream waits anew for each. */
  async #relayPrompt(promptIndex: number): Promise<Exclude<StreamEnd, 'cut'>> {
    const { context, exchange, completion } = this.#run
    const since = exchange.response.isOpen ? performance.now() : exchange.receivedAt
    const deadline = replyDeadline(context, since)
    const failedChannels: string[] = []
    for (;;) {
      try {
        this.#reply = await this.#call(promptIndex, { deadline, failedChannels })
        return await this.#relayReply(this.#reply, promptIndex, deadline)
      } catch (error) {
        if (this.#isAbandoned && this.#ends.length === promptIndex) {
          const kind = completion.stream ? 'abandoned' : 'unread'
          this.#ends.push({ kind, usage: undefined, textBytes: 0 })
        }
        if (!(error instanceof NothingRelayedError) || this.#reply === undefined || this.#givenUp.aborted) {
          throw error
        }
        failedChannels.push(this.#reply.channel.id)
      }
    }
  }

  async #call(
    promptIndex: number,
    call: { readonly deadline: number; readonly failedChannels: readonly string[] },
  ): Promise<UpstreamReply> {
    const { exchange, completion, context, writeCall } = this.#run
    const reply = await callUpstream(context, {
      ...call,
      exchange,
      modelId: completion.model.id,
      path: '/chat/completions',
      signal: exchange.response.gone,
      givenUp: this.#givenUp,
      body: (model, channel) => {
        const { text, ignored } = writeCall({ promptIndex, model, channel })
        // Prompts may go to several channels: the client hears of every field that one of them leaves out.
        for (const name of ignored) {
          this.#ignored.add(name)
        }
        exchange.tellIgnored([...this.#ignored])
        return text
      },
    })
    this.#note(reply)
    return reply
  }

  /** Notes the upstreams' ids of all calls, and the number of attempts. */
  #note(reply: UpstreamReply): void {
    const { exchange } = this.#run
    this.#attempts += reply.attempts
    if (reply.upstreamRequestId !== undefined && this.#upstreamRequestIds.length < NOTED_IDS_MAX) {
      this.#upstreamRequestIds.push(reply.upstreamRequestId)
    }
    exchange.noteReply({ ...reply, upstreamRequestId: undefined, attempts: this.#attempts })
    // No id contains a blank.
    exchange.note({ upstreamRequestIds: this.#upstreamRequestIds.join(' ') || undefined })
  }

  async #relayReply(reply: UpstreamReply, promptIndex: number, deadline: number): Promise<Exclude<StreamEnd, 'cut'>> {
    const { completion, hidden } = this.#run
    if (!isSuccess(reply)) {
      throw new UpstreamRefusalError(reply.status, await readRefusal(reply, { deadline, hidden }))
    }
    if (!completion.stream) {
      this.#choices.push(...this.#writer.elements(promptIndex, await this.#readWhole(reply, deadline)))
      return 'whole'
    }
    this.#sender.keepAlive()
    if (isEventStream(reply.contentType)) {
      return await this.#relayStream(reply, promptIndex)
    }
    await this.#sender.send(this.#writer.events(promptIndex, await this.#readWhole(reply, undefined)))
    return 'whole'
  }

  async #relayStream(reply: UpstreamReply, promptIndex: number): Promise<Exclude<StreamEnd, 'cut'>> {
    const { completion, exchange, hidden } = this.#run
    const { model, n } = completion
    const chat = new ChatStream({
      publicModel: model.id,
      hidden,
      relaysUsage: false,
      choices: n,
      withoutCredentials: reply.withoutCredentials,
      costOf: () => undefined,
    })
    const stream = new CompletionStream({ chat, writer: this.#writer, promptIndex, n })
    const { gone, ending } = exchange.response
    const response = {
      gone,
      ...(ending === undefined ? {} : { ending }),
      // Other prompts do not bind this one to its upstream.
      get isOpen() {
        return stream.hasBegun
      },
    }
    const failed = () => (this.#givenUp.aborted ? undefined : reply.failed())
    const end = await relayEvents({ ...reply, failed }, stream, { sender: this.#sender, response })
    const usage = chat.usage && this.#withinBounds(chat.usage, reply)
    this.#ends.push({ kind: end, usage, textBytes: chat.relayedTextBytes })
    if (end === 'broken' || end === 'cut') {
      failed()
    }
    if (end === 'cut' && !stream.hasBegun) {
      throw new PromptCutError({ cause: new RangeError('an event is larger than any of a chat') })
    }
    return end === 'cut' ? 'broken' : end
  }

  /** Reads a whole reply, and keeps its usage. @param deadline undefined where the client gets bytes meanwhile. */
  async #readWhole(reply: UpstreamReply, deadline: number | undefined): Promise<ChatChoices> {
    const { completion, exchange, hidden } = this.#run
    const bytesMax = completion.stream ? REPLY_BYTES_MAX : Math.min(REPLY_BYTES_MAX, HELD_BYTES_MAX - this.#heldBytes)
    const form = { publicModel: completion.model.id, hidden, list: 'choices' } as const
    const { gone } = exchange.response
    const bytes = await readSuccess(reply, { bytesMax, form, deadline, gone }).catch((error: unknown) => {
      throw error instanceof ReplyTooLargeError ? this.#cut(reply, error) : error
    })
    this.#heldBytes += bytes.length
    const read = readChatChoices(bytes.toString('utf8')) ?? refuseReply(reply, 'the reply is not a chat completion')
    this.#ends.push({ kind: 'whole', usage: read.usage && this.#withinBounds(read.usage, reply), textBytes: 0 })
    return read
  }

  /** Bills a reply that was too large. One without a choice is free. */
  #cut(reply: UpstreamReply, error: ReplyTooLargeError): PromptCutError {
    const { usage: reported, entries } = error.reply
    if (entries > 0) {
      const usage = believedUsage(readTokenUsage(reported), true)
      this.#ends.push({ kind: 'cut', usage: usage && this.#withinBounds(usage, reply), textBytes: 0 })
    }
    return new PromptCutError({ cause: error })
  }

  /** Limits the usage of a call to the bounds of the model. A usage above them is logged and counted. */
  #withinBounds(usage: TokenCounts, { channel }: UpstreamReply): TokenCounts {
    const { exchange, completion } = this.#run
    const { model, n: choices } = completion
    return usageWithinBounds(usage, { requestId: exchange.requestId, channelId: channel.id, model, choices })
  }
}

/** Undefined if one of the usages is. */
function sumOfUsages(ends: readonly PromptEnd[]): TokenCounts | undefined {
  const known = ends.flatMap(({ usage }) => usage ?? [])
  return known.length === ends.length ? sumOfTokenCounts(known) : undefined
}

/** One event with the error, in the upstream's own words where it has any about the request. */
function errorEvent(failure: unknown): string {
  const refusal = failure instanceof UpstreamRefusalError ? parseJsonObject(failure.body.toString('utf8')) : undefined
  return toEvent(
    refusal !== undefined && 'error' in refusal ? JSON.stringify({ error: refusal.error }) : UPSTREAM_BROKE_OFF,
  )
}
