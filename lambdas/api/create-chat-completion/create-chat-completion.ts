import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import { type ChatRequest, parseChatRequest } from '#core/contract/chat-request.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import type { FieldTree } from '#core/json/field-tree.ts'
import type { Microcredits } from '#core/money/money.ts'
import { adviseOnOutput } from '#core/money/shortfall.ts'
import { chatChargeMax } from '#core/quota/chat-cost.ts'
import { upstreamChatBody } from '#core/relay/chat-call.ts'
import { chatReplyAsEvents, readChatReply } from '#core/relay/chat-reply.ts'
import { ChatStream } from '#core/relay/chat-stream.ts'
import { isEventStream } from '#core/relay/event-stream-type.ts'
import { type Bill, billRequest } from '../../relay/bill-request.ts'
import { costHeaders } from '../../relay/cost-headers.ts'
import { EventSender } from '../../relay/event-sender.ts'
import { callUpstream, replyDeadline } from '../../relay/failover.ts'
import { readBilledReply } from '../../relay/read-billed-reply.ts'
import { refuseReply, relayRefusal } from '../../relay/read-reply.ts'
import { refuseIgnoredFields } from '../../relay/refuse-ignored-fields.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { RelayExchange } from '../../relay/relay-exchange.ts'
import { NothingRelayedError, relayStream } from '../../relay/relay-stream.ts'
import { sendWhole } from '../../relay/send-response.ts'
import { isSuccess, type UpstreamReply } from '../../relay/upstream-reply.ts'
import { ChatBill } from './chat-bill.ts'

/** The largest chat reply that is held whole, in several copies; images in it included. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024

/** The longest field `max_tokens` that a client adds to a body, with the white space around. */
const ADDED_LIMIT_BYTES = 40

/** Advice for a balance that is too low: the longest output that it covers. A limit that is added makes the prompt's bound longer. */
function adviseOnChat({ model, askedLimits, ...chat }: ChatRequest, available: Microcredits): string | undefined {
  const { max_tokens: older, max_completion_tokens: newer } = askedLimits
  const addedBytes = older == null && newer == null ? ADDED_LIMIT_BYTES : 0
  const promptTokensMax = Math.min(model.context_tokens + chat.imageTokensMax, chat.promptTokensMax + addedBytes)
  return adviseOnOutput(available, {
    model,
    // Of two limits, the larger one was reserved.
    name: newer == null || (older ?? 0) > newer ? 'max_tokens' : 'max_completion_tokens',
    most: chat.outputTokensMax,
    costOf: (outputTokensMax) => chatChargeMax(model, { ...chat, promptTokensMax, outputTokensMax }).amount,
  })
}

/** POST /v1/chat/completions: validates, reserves, relays, and settles by the usage that the upstream reports. */
export async function createChatCompletion(exchange: RelayExchange, context: RelayContext): Promise<void> {
  const { body, caller } = exchange
  const { catalogue } = context
  const chat = parseChatRequest(body.json, { catalogue, allowedModels: caller.models, bodyBytes: body.bytes })
  const { model } = chat
  refuseIgnoredFields(exchange, { list: 'chat', channels: catalogue.relayChannels(model.id) })
  exchange.note({ model: model.id, stream: chat.stream })
  const adviseFor = (available: Microcredits) => adviseOnChat(chat, available)
  await billRequest(context, { exchange, model, estimate: chatChargeMax(model, chat), adviseFor }, async (bill) => {
    const deadline = replyDeadline(context, exchange.receivedAt)
    const failedChannels: string[] = []
    for (;;) {
      const reply = await callUpstream(context, {
        exchange,
        signal: exchange.response.gone,
        givenUp: exchange.response.ending,
        modelId: model.id,
        path: '/chat/completions',
        failedChannels,
        deadline,
        body: (upstreamModel, channel) => {
          const { text, ignored } = upstreamChatBody(body.text, { upstreamModel, chat, channel })
          exchange.tellIgnored(ignored)
          return text
        },
      })
      exchange.noteReply(reply)
      try {
        return await relayReply(reply, { exchange, chat, bill, deadline, hidden: hiddenFields(catalogue.config) })
      } catch (error) {
        if (!(error instanceof NothingRelayedError)) {
          throw error
        }
        failedChannels.push(reply.channel.id)
      }
    }
  })
}

type BilledChat = {
  readonly exchange: RelayExchange
  readonly chat: ChatRequest
  readonly bill: Bill
  readonly deadline: number
  /** What no client sees of the reply. */
  readonly hidden: FieldTree
}

async function relayReply(reply: UpstreamReply, billed: BilledChat): Promise<void> {
  if (!isSuccess(reply)) {
    await relayRefusal(reply, billed.exchange.response, billed)
  } else if (billed.chat.stream && isEventStream(reply.contentType)) {
    await relayEvents(reply, billed)
  } else {
    await relayWhole(reply, billed)
  }
}

async function relayWhole(reply: UpstreamReply, billed: BilledChat): Promise<void> {
  const { exchange, chat, bill, deadline, hidden } = billed
  const { response } = exchange
  const chatBill = new ChatBill(billed)
  const rules = { publicModel: chat.model.id, hidden }
  const bytes = await readBilledReply(reply, {
    response,
    bill,
    deadline,
    bytesMax: REPLY_BYTES_MAX,
    form: { ...rules, list: 'choices', costOf: (read) => chatBill.costOfLarge(read) },
    passes: !chat.stream,
    settleLarge: (large) => chatBill.settleLarge(large, reply),
  })
  if (bytes === undefined) {
    return
  }
  const read = readChatReply(bytes.toString('latin1'), rules)
  if (read.kind === 'error') {
    reply.failed()
    throw new NothingRelayedError('the upstream reported an error under a status of success')
  }
  if (read.kind === 'unusable') {
    return refuseReply(reply, 'the reply has no `choices[].message`')
  }
  const body = Buffer.from(read.relayed(chatBill.costOfWhole(read.usage)), 'latin1')
  // Made before anything is billed: a reply that cannot become a stream costs nothing.
  const events = chat.stream
    ? chatReplyAsEvents(body.toString('utf8'), chat.model.id, { hasUsage: chat.includeUsage })
    : undefined
  if (chat.stream && events === undefined) {
    return refuseReply(reply, 'the reply has choices that cannot be sent as a stream')
  }
  chatBill.settleWhole(read.usage, reply)
  if (events === undefined) {
    sendWhole(response, { statusCode: reply.status, body, headers: costHeaders(bill.cost) })
  } else {
    new EventSender(response).end(events)
  }
}

async function relayEvents(reply: UpstreamReply, billed: BilledChat): Promise<void> {
  const { exchange, chat, bill, hidden } = billed
  const { model, choices, includeUsage } = chat
  const { withoutCredentials } = reply
  const chatBill = new ChatBill(billed)
  const stream = new ChatStream({
    publicModel: model.id,
    hidden,
    relaysUsage: includeUsage,
    choices,
    withoutCredentials,
    costOf: (usage) => chatBill.costOf(usage),
  })
  const end = await relayStream(reply, stream, exchange.response)
  exchange.note({ streamEnd: end === 'cut' ? 'broken' : end })
  if (end === 'broken' || end === 'cut') {
    reply.failed()
  }
  const { usage, relayedTextBytes } = stream
  if (usage !== undefined) {
    chatBill.settleByUsage(usage, reply)
  } else if (end === 'whole' || end === 'cut') {
    bill.settleByEstimate(bill.estimate)
  } else if (end === 'abandoned' || relayedTextBytes > 0) {
    chatBill.settleBroken(relayedTextBytes)
  }
  // The response to a client that has left stays closed, whatever the upstream sent.
  if (!(exchange.response.isOpen || exchange.response.gone.aborted)) {
    throw new UpstreamFailedError({ cause: new RangeError('an event is larger than any of a chat') })
  }
}
