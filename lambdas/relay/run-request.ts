import type { ErrorForm } from '#core/api/error-form.ts'
import { upstreamModelOf } from '#core/catalogue/apis.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import { HttpError } from '#core/errors.ts'
import { DO_NOT_RETRY } from '#core/http.ts'
import { type JsonObject, parseJsonObject } from '#core/json/parse-json-text.ts'
import { type Microcredits, ZERO } from '#core/money.ts'
import { namedUser, USER_HEADER } from '#core/named-users.ts'
import type { CallEnd } from '#core/pricing/usage.ts'
import { logWord } from '#core/redaction.ts'
import type { ReplyRules } from '#core/relay/reply-scan.ts'
import { isEventStream } from '#core/relay/sse-events.ts'
import type { ReplyReader, WholeReply } from '#core/relay/whole-reply.ts'
import { headerValue } from '#middleware/api-event.ts'
import { asError, logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { type Bill, billRequest } from './bill-request.ts'
import { isSuccess, NothingRelayedError, type UpstreamReply } from './call-channel.ts'
import { ClientGoneError, EventSender, hasLeft } from './client-response.ts'
import { callUpstream, replyDeadline, servingChannels } from './failover.ts'
import {
  boundWhenGone,
  cutReply,
  passOn,
  ReplyTooLargeError,
  readRefusal,
  readSuccessUpTo,
  refuseReply,
  type Unfinished,
} from './read-reply.ts'
import type { RelayContext } from './relay-context.ts'
import type { RelayExchange } from './relay-exchange.ts'
import type {
  CallTarget,
  ClientRequest,
  FromChannel,
  LargeReplies,
  RelayProtocol,
  RelayRequest,
  RequestStream,
} from './relay-protocol.ts'
import { faultOf, relayEvents, type StreamEnd } from './relay-stream.ts'
import { costHeaders, sendJson } from './send-response.ts'
import type { RelayRoute } from './serve-relay.ts'

/** The relayed operation of a protocol: its requests are validated, reserved, relayed, and settled by what the upstreams report. */
export function defineRelayRoute<Usage>(protocol: RelayProtocol<Usage>): RelayRoute {
  const { operation, errors, query } = protocol
  return {
    operation,
    errors,
    query,
    takesBody: true,
    relay: (exchange, context) => runRequest(exchange, context, protocol),
  }
}

async function runRequest<Usage>(
  exchange: RelayExchange,
  context: RelayContext,
  { errors, read, keepAlive }: RelayProtocol<Usage>,
): Promise<void> {
  const { catalogue } = context
  const request = read(clientRequestOf(exchange, context))
  const { model, billing } = request
  exchange.refuseIgnored(() => fieldsIgnoredBySome(request, catalogue))
  const estimate = await billing.estimate()
  exchange.note({ model: model.id, ...request.facts })
  const rules = { publicModel: model.id, hidden: hiddenFields(catalogue.config) }
  const named = namedUser(headerValue(exchange.request, USER_HEADER), exchange.body.json)
  const user = named === undefined ? undefined : await context.users.counted(exchange.caller.tenantId, named)
  await billRequest(context, { exchange, request, estimate, user }, async (bill) => {
    await new RequestRun({ exchange, context, errors, keepAlive, request, rules, bill }).run()
  })
}

/** A request as its protocol reads it. */
export function clientRequestOf(
  exchange: RelayExchange,
  { catalogue, nowMilliseconds }: Pick<RelayContext, 'catalogue' | 'nowMilliseconds'>,
): ClientRequest {
  const { requestId, caller, body, request } = exchange
  return {
    json: body.json,
    text: body.text,
    bodyBytes: body.bytes,
    requestId,
    header: (name) => headerValue(request, name),
    catalogue,
    allowedModels: caller.models,
    nowMilliseconds: nowMilliseconds(),
  }
}

/** The fields that at least one channel would leave out, so that the result does not depend on the channel that takes the request. */
function fieldsIgnoredBySome(
  { model, rankOf, write }: Pick<RelayRequest<never>, 'model' | 'rankOf' | 'write'>,
  catalogue: Pick<Catalogue, 'relayChannels'>,
): readonly string[] {
  const channels = servingChannels(catalogue.relayChannels(model.id), rankOf)
  const ignored = channels.flatMap(
    (channel) => write(0, { channel, upstreamModel: upstreamModelOf(channel, model.id) }).ignored,
  )
  return [...new Set(ignored)]
}

type Run<Usage> = {
  readonly exchange: RelayExchange
  readonly context: RelayContext
  readonly errors: ErrorForm
  readonly keepAlive: string | undefined
  readonly request: RelayRequest<Usage>
  readonly rules: ReplyRules
  readonly bill: Bill
}

function largeOf({ large }: Pick<RelayRequest<never>, 'large'>, { channel }: FromChannel): LargeReplies {
  return typeof large === 'function' ? large({ channel }) : large
}

/** How a request ends for its client. `sent`: the response is complete, whatever became of the reply. */
type RunEnd = Exclude<StreamEnd, 'cut'> | 'sent'

/**
 * How long a request may take from the first byte of its body to the last one of its response. An upstream is read on for its usage
 * for 30 s after that, and a ledger that is out of reach is tried for a minute: both end before a Lambda function would, and before
 * Reconcile gives the reservation back.
 */
export const REQUEST_MILLISECONDS_MAX = 805_000

/** Upstreams' ids in a log line; a request with more calls is found by its channel. */
const NOTED_IDS_MAX = 8

/**
 * The way of one request after its reservation: calls, failover, response and price. Before the first byte, a failure is a status,
 * and free; but if an upstream refuses a later call, or sends more than the gateway holds, what came before is billed. After the
 * first byte, one event with the error ends a stream.
 */
class RequestRun<Usage> {
  readonly #run: Run<Usage>
  readonly #sender: EventSender
  readonly #ends: CallEnd<Usage>[] = []
  /** Of a client that wants no events. */
  readonly #replies: Extract<WholeReply<Usage>, { kind: 'reply' }>[] = []
  #heldBytes = 0
  #statusCode = 200
  #ignored: readonly string[] = []
  #attempts = 0
  #upstreamRequestIds: readonly string[] = []

  constructor(run: Run<Usage>) {
    this.#run = run
    this.#sender = new EventSender(run.exchange.response, run.errors, run.keepAlive)
  }

  async run(): Promise<void> {
    const { exchange, request } = this.#run
    let end: RunEnd = 'whole'
    try {
      for (let call = 0; call < request.calls && end === 'whole'; call += 1) {
        end = call > 0 && exchange.response.gone.aborted ? 'abandoned' : await this.#call(call)
      }
    } catch (error) {
      end = this.#fail(error)
    } finally {
      this.#sender.stop()
    }
    await this.#finish(end)
  }

  /** Bills the calls as they ended, and completes the response, which shows what was billed. */
  async #finish(end: RunEnd): Promise<void> {
    const { exchange, request, bill } = this.#run
    this.#settle()
    if (end === 'sent') {
      return
    }
    if (request.streaming !== undefined) {
      this.#sender.end(end === 'whole' ? request.streaming.end?.(this.#ends, bill.cost) : '')
    } else if (end === 'whole') {
      const cost = request.respond === undefined ? bill.cost : undefined
      const parts = this.#replies.flatMap((reply) => reply.relayed(cost))
      const pieces = request.respond?.(parts, this.#ends, bill.cost) ?? parts
      await sendJson(exchange.response, { statusCode: this.#statusCode, pieces, headers: costHeaders(bill.cost) })
    }
  }

  /** @throws the failure of a request that has no response yet. */
  #fail(error: unknown): RunEnd {
    const { response } = this.#run.exchange
    if (error instanceof ClientGoneError && this.#ends.length > 0) {
      return 'abandoned'
    }
    if (response.isOpen && this.#ends.length > 0 && error instanceof HttpError) {
      return this.#breakOff(this.#sender.brokeOff)
    }
    if (response.isOpen || error instanceof ReplyTooLargeError || this.#ends.at(-1)?.how === 'unread') {
      this.#settle()
    }
    throw error
  }

  #breakOff(event: string): RunEnd {
    this.#sender.write(event)
    this.#run.exchange.note({ streamEnd: 'broken' })
    return 'broken'
  }

  #settle(): void {
    const { exchange, request, bill } = this.#run
    const priced = request.billing.price(this.#ends)
    if (priced !== undefined) {
      exchange.note(priced.facts ?? {})
      bill.settle(priced)
    }
  }

  /** A client that has bytes of a stream waits anew for each reply. */
  async #call(call: number): Promise<RunEnd> {
    const { exchange, context, request } = this.#run
    const { receivedAt, response } = exchange
    const since = response.isOpen ? performance.now() : receivedAt
    const deadline = Math.min(replyDeadline(context, since), receivedAt + REQUEST_MILLISECONDS_MAX)
    const upstreamCall = {
      exchange,
      modelId: request.model.id,
      sessionId: request.sessionId,
      rankOf: request.rankOf,
      signal: response.gone,
      givenUp: response.ending,
      deadline,
      tellFailure: (...failed: Parameters<RelayExchange['noteFailure']>) => exchange.noteFailure(...failed),
      write: (target: CallTarget) => {
        const written = request.write(call, target)
        const { ignored } = written
        // Calls may go to several channels: the client hears of every field that one of them leaves out.
        this.#ignored = request.calls === 1 ? ignored : [...new Set([...this.#ignored, ...ignored])]
        exchange.tellIgnored(this.#ignored)
        return written
      },
    }
    return await callUpstream(context, upstreamCall, (reply) => this.#relay(reply, call, deadline))
  }

  async #relay(reply: UpstreamReply, call: number, deadline: number): Promise<RunEnd> {
    const { streaming } = this.#run.request
    this.#note(reply)
    if (!isSuccess(reply)) {
      return await this.#refuse(reply, deadline)
    }
    if (streaming !== undefined && isEventStream(reply.contentType)) {
      return await this.#relayStream(reply, call, streaming)
    }
    return await this.#relayWhole(reply, call, deadline)
  }

  #note(reply: UpstreamReply): void {
    const { exchange, request } = this.#run
    exchange.noteReply(reply)
    if (request.calls > 1) {
      this.#attempts += reply.attempts
      const ids = [
        ...this.#upstreamRequestIds,
        ...(reply.upstreamRequestId === undefined ? [] : [reply.upstreamRequestId]),
      ]
      this.#upstreamRequestIds = ids.slice(0, NOTED_IDS_MAX)
      // No id contains a blank.
      const upstreamRequestIds = this.#upstreamRequestIds.join(' ') || undefined
      exchange.note({ upstreamRequestId: undefined, upstreamRequestIds, attempts: this.#attempts })
    }
  }

  /** Relays what an upstream says against a call. Only the calls before it are billed. */
  async #refuse(reply: UpstreamReply, deadline: number): Promise<RunEnd> {
    const { exchange, errors, request, rules, bill } = this.#run
    const { channel, status } = reply
    const translate = request.refusal && ((refusal: JsonObject) => request.refusal?.(refusal, { channel, status }))
    const body = await readRefusal(reply, { deadline, rules, errors, translate })
    if (exchange.response.isOpen) {
      const refusal = parseJsonObject(body.toString('utf8'))
      const hasError = refusal !== undefined && 'error' in refusal
      return this.#breakOff(hasError ? errors.event({ error: refusal.error }) : this.#sender.brokeOff)
    }
    this.#settle()
    const headers = bill.isBilled ? { ...DO_NOT_RETRY, ...costHeaders(bill.cost) } : {}
    await sendJson(exchange.response, { statusCode: reply.status, pieces: [body], headers })
    return 'sent'
  }

  async #relayStream(reply: UpstreamReply, call: number, streaming: RequestStream<Usage>): Promise<RunEnd> {
    const { exchange, rules } = this.#run
    const { response } = exchange
    const { channel, withoutCredentials } = reply
    const costOf = (usage: Usage) => this.#costOf(usage)
    const stream = streaming.open(call, { ...rules, channel, withoutCredentials, costOf })
    const sender = this.#sender
    sender.keepAlive()
    let end: StreamEnd
    try {
      end = await relayEvents(reply, stream, { sender, response })
    } catch (error) {
      if (!response.isOpen) {
        // No comment comes before the status of the next channel.
        sender.stop()
      }
      if (!stream.hasGenerated || !response.isOpen || error instanceof HttpError || error instanceof ClientGoneError) {
        throw error
      }
      // The client keeps what was sent, so a fault of our own must not make it free.
      logger.error('stream not read to its end', { requestId: exchange.requestId, error: asError(error) })
      reply.body.destroy()
      sender.write(sender.brokeOff)
      end = 'broken'
    }
    const isBroken = end === 'broken' || end === 'cut'
    exchange.note({ streamEnd: isBroken ? 'broken' : end })
    if (isBroken) {
      reply.failed(faultOf(stream))
    }
    this.#keepEnd(reply, { how: end, usage: stream.usage, textBytes: stream.relayedTextBytes })
    // The response to a client that has left stays closed, whatever the upstream sent.
    if (end === 'cut' && !(response.isOpen || response.gone.aborted)) {
      throw new ReplyTooLargeError()
    }
    return end === 'cut' ? 'broken' : end
  }

  async #relayWhole(reply: UpstreamReply, call: number, deadline: number): Promise<RunEnd> {
    const { request, rules } = this.#run
    const reader = request.reader(call, { ...rules, channel: reply.channel })
    if (!(await this.#readWhole(reply, deadline, reader))) {
      return 'sent'
    }
    const read = reader.end()
    if (read.kind === 'error') {
      reply.failed('reported_error')
      throw new NothingRelayedError('the upstream reported an error under a status of success')
    }
    if (read.kind === 'unusable') {
      return refuseReply(reply, read.reason)
    }
    if (request.streaming === undefined) {
      this.#keepWhole(reply, read)
      this.#replies.push(read)
      return 'whole'
    }
    // Made before anything is billed: a reply that cannot become a stream costs nothing.
    const events = read.events?.(this.#costOf(read.usage))
    if (events === undefined) {
      return refuseReply(reply, 'the reply has choices that cannot be sent as a stream')
    }
    this.#keepWhole(reply, read)
    const hasRoom = this.#sender.write(events)
    if (call + 1 < request.calls) {
      this.#sender.keepAlive()
      await (hasRoom ? undefined : this.#sender.drained())
    }
    return 'whole'
  }

  #keepWhole(reply: UpstreamReply, { usage }: { readonly usage: Usage | undefined }): void {
    this.#statusCode = reply.status
    this.#keepEnd(reply, { how: 'whole', usage, textBytes: 0 })
  }

  /**
   * Reads a success for a client that may leave meanwhile: the reply is then read on for a bounded time, and billed at the
   * estimate when it is not whole by then. A reply that is too large to be held is relayed while it arrives.
   * @returns false when the reply was relayed.
   * @throws UpstreamFailedError, UpstreamTimeoutError, ReplyTooLargeError.
   */
  async #readWhole(reply: UpstreamReply, deadline: number, reader: Pick<ReplyReader<Usage>, 'push'>): Promise<boolean> {
    const { exchange, request } = this.#run
    const { response } = exchange
    const { bytesMax: most } = largeOf(request, reply)
    const bytesMax = most === undefined ? undefined : most - this.#heldBytes
    const bounds = { bytesMax, deadline: response.isOpen ? undefined : deadline, gone: response.gone }
    const stopWaiting = boundWhenGone(reply.body, response)
    try {
      const read = await readSuccessUpTo(reply, bounds, reader).catch((error: unknown) => {
        if (hasLeft(response)) {
          this.#keepEnd(reply, { how: 'unread', usage: undefined, textBytes: 0 })
        }
        throw error
      })
      if (typeof read !== 'number') {
        await this.#relayLarge(reply, read, bounds)
        return false
      }
      this.#heldBytes += request.streaming === undefined ? read : 0
      return true
    } finally {
      stopWaiting()
    }
  }

  /** @throws ReplyTooLargeError for a reply that cannot be relayed while it arrives. */
  async #relayLarge(
    reply: UpstreamReply,
    unfinished: Unfinished,
    { deadline }: { readonly deadline: number | undefined },
  ): Promise<void> {
    const { exchange, request, rules } = this.#run
    const { response } = exchange
    const { billing } = request
    const { list, areRelayed } = largeOf(request, reply)
    const costOf = (read: { readonly usage: unknown; readonly entries: number }) => {
      const usage = read.entries === 0 ? undefined : billing.usageOf(read)
      return usage === undefined ? undefined : this.#costOf(usage)
    }
    const form = { ...rules, list, costOf }
    const isCut = request.streaming !== undefined || !areRelayed || response.isBuffered === true
    const large = isCut
      ? await cutReply(reply, unfinished, { form, deadline })
      : await passOn(unfinished, { form, status: reply.status, response })
    if (large.entries > 0 || large.end === 'abandoned') {
      const how = large.end === 'abandoned' ? 'unread' : large.end
      this.#keepEnd(reply, { how, usage: billing.usageOf(large), textBytes: large.bytes })
    }
    if (isCut) {
      throw new ReplyTooLargeError()
    }
    if (large.entries === 0 || large.end === 'broken') {
      reply.failed(large.end === 'broken' ? 'broke_off' : 'odd_body')
    }
  }

  /** The cost of a whole reply with this usage, for the client; undefined for a model without a price. */
  #costOf(usage: Usage | undefined): Microcredits | undefined {
    const { request, bill } = this.#run
    const checked = usage === undefined ? undefined : request.billing.check(usage).usage
    const priced = request.billing.price([{ how: 'whole', usage: checked, textBytes: 0 }])
    return bill.estimate.amount === ZERO ? undefined : priced?.charge.amount
  }

  /** Keeps how a call ended for the bill. What cannot be true of its usage is logged and counted. */
  #keepEnd(reply: UpstreamReply, end: CallEnd<Usage>): void {
    const { exchange, request } = this.#run
    if (end.usage === undefined) {
      this.#ends.push(end)
      return
    }
    const { usage, doubts } = request.billing.check(end.usage)
    this.#ends.push({ ...end, usage })
    for (const { kind, reported } of doubts) {
      const words = Object.entries(reported).map(([name, value]) => [name, logWord(String(value))])
      const facts = { requestId: exchange.requestId, model: request.model.id, channelId: reply.channel.id }
      logger.error(DOUBTS[kind], { ...facts, ...Object.fromEntries(words) })
      if (kind === 'above_bound') {
        count('usage_above_bound', { channel: reply.channel.id })
      } else {
        count('usage_refused', { model: request.model.id })
      }
    }
  }
}

const DOUBTS = {
  above_bound: 'the upstream reported a usage above the bound of its model',
  contradictory: 'the upstream reported more cached tokens than its prompt has',
} as const
