import { type ChatRequest, parseChatRequest } from '#core/contract/chat-request.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import type { Microcredits } from '#core/money/money.ts'
import { adviseOnOutput } from '#core/money/shortfall.ts'
import { brokenStreamCost, chatCost, chatCostMax } from '#core/quota/chat-cost.ts'
import { believedUsage, type ChatUsage, readChatUsage } from '#core/quota/token-usage.ts'
import { upstreamChatBody } from '#core/relay/chat-call.ts'
import { chatAnswerAsEvents, readChatAnswer } from '#core/relay/chat-reply.ts'
import { ChatStream } from '#core/relay/chat-stream.ts'
import { isEventStream } from '#core/relay/event-stream-type.ts'
import { AnswerNotBegunError } from '../../relay/answer-not-begun.ts'
import { type Bill, billRequest } from '../../relay/bill-request.ts'
import { callChannel } from '../../relay/call-channel.ts'
import { replyDeadline, type UpstreamReply } from '../../relay/call-upstream.ts'
import { EventSender } from '../../relay/event-sender.ts'
import type { LargeAnswer } from '../../relay/large-answer.ts'
import { tokensOf } from '../../relay/measure-request.ts'
import { isSuccess, refuseAnswer, relayRefusal, sendWhole } from '../../relay/read-answer.ts'
import { readBilledAnswer } from '../../relay/read-billed-answer.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { AnswerWriter, RelayRequest } from '../../relay/relay-request.ts'
import { relayStream } from '../../relay/relay-stream.ts'
import { usageWithinBounds } from '../../relay/report-usage.ts'

/** The largest chat answer that is held whole, in several copies; images in it included. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024

/** Of too little quota: how long an answer the balance covers. */
function adviseOnChat(chat: ChatRequest, available: Microcredits): string | undefined {
  return adviseOnOutput(available, {
    model: chat.model,
    name: chat.askedLimits.max_completion_tokens == null ? 'max_tokens' : 'max_completion_tokens',
    most: chat.outputTokensMax,
    costOf: (outputTokensMax) => chatCostMax(chat.model, { ...chat, outputTokensMax }),
  })
}

/** POST /v1/chat/completions: validates, reserves, relays, and settles by the usage that the upstream reports. */
export async function createChatCompletion(
  request: RelayRequest,
  answer: AnswerWriter,
  context: RelayContext,
): Promise<void> {
  const { json, bodyBytes, caller } = request
  const chat = parseChatRequest(json, { catalogue: context.catalogue, allowedModels: caller.models, bodyBytes })
  request.note({ model: chat.model.id, stream: chat.stream })
  const billed = {
    request,
    operation: 'create-chat-completion',
    model: chat.model,
    estimate: chatCostMax(chat.model, chat),
    adviseFor: (available: Microcredits) => adviseOnChat(chat, available),
  }
  await billRequest(context, billed, async (bill) => {
    const deadline = replyDeadline(context, request.receivedAt)
    const exchange = { request, chat, answer, bill, deadline }
    const failedChannels: string[] = []
    for (;;) {
      const reply = await callChannel(context, {
        request,
        gone: answer.gone,
        modelId: chat.model.id,
        path: '/chat/completions',
        failedChannels,
        deadline,
        body: (upstreamModel, channel) => {
          const { text, ignored } = upstreamChatBody(request.bodyText, { upstreamModel, chat, channel })
          request.tellIgnored(ignored)
          return text
        },
      })
      try {
        return await relayReply(reply, exchange)
      } catch (error) {
        if (!(error instanceof AnswerNotBegunError)) {
          throw error
        }
        failedChannels.push(reply.channel.id)
      }
    }
  })
}

type Exchange = {
  readonly request: RelayRequest
  readonly chat: ChatRequest
  readonly answer: AnswerWriter
  readonly bill: Bill
  readonly deadline: number
}

async function relayReply(reply: UpstreamReply, exchange: Exchange): Promise<void> {
  if (!isSuccess(reply)) {
    await relayRefusal(reply, exchange.answer, exchange.deadline)
  } else if (exchange.chat.stream && isEventStream(reply.contentType)) {
    await relayEvents(reply, exchange)
  } else {
    await relayWhole(reply, exchange)
  }
}

async function relayWhole(reply: UpstreamReply, { request, chat, answer, bill, deadline }: Exchange): Promise<void> {
  const bytes = await readBilledAnswer(reply, {
    answer,
    bill,
    deadline,
    bytesMax: ANSWER_BYTES_MAX,
    form: { publicModel: chat.model.id, list: 'choices' },
    passes: !chat.stream,
    settleLarge: (large) => settleLarge(large, reply, { request, chat, bill }),
  })
  if (bytes === undefined) {
    return
  }
  const read = readChatAnswer(bytes.toString('latin1'), chat.model.id)
  if (read.kind === 'error') {
    reply.failed()
    throw new AnswerNotBegunError('the upstream reported an error under a status of success')
  }
  if (read.kind === 'unusable') {
    return refuseAnswer(reply, 'the answer is no JSON object with choices that have a message')
  }
  // Made before anything is billed: an answer of which no stream can be made costs nothing.
  const events = chat.stream
    ? chatAnswerAsEvents(bytes.toString('utf8'), chat.model.id, { hasUsage: chat.includeUsage })
    : undefined
  if (chat.stream && events === undefined) {
    return refuseAnswer(reply, 'the answer has choices that no stream can be made of')
  }
  if (read.usage === undefined) {
    bill.settleByEstimate(bill.locked)
  } else {
    settleByUsage(read.usage, reply, { request, chat, bill })
  }
  if (events === undefined) {
    sendWhole(answer, { statusCode: reply.status, body: Buffer.from(read.relayed, 'latin1') })
  } else {
    new EventSender(answer).end(events)
  }
}

async function relayEvents(reply: UpstreamReply, { request, chat, answer, bill }: Exchange): Promise<void> {
  const { model, choices, includeUsage } = chat
  const stream = new ChatStream({
    publicModel: model.id,
    relaysUsage: includeUsage,
    choices,
    withoutCredentials: reply.withoutCredentials,
  })
  const end = await relayStream(reply, stream, answer)
  request.note({ streamEnd: end === 'cut' ? 'broken' : end })
  if (end === 'broken' || end === 'cut') {
    reply.failed()
  }
  if (stream.usage !== undefined) {
    settleByUsage(stream.usage, reply, { request, chat, bill })
  } else if (end === 'whole' || end === 'cut') {
    bill.settleByEstimate(bill.locked)
  } else if (end === 'abandoned' || stream.relayedTextBytes > 0) {
    const { relayedTextBytes } = stream
    const promptTokens = chat.promptTokensEstimate
    bill.settleByEstimate(brokenStreamCost(model, { promptTokens, relayedTextBytes, locked: bill.locked }))
  }
  if (!answer.isOpen) {
    throw new UpstreamFailedError({ cause: new RangeError('an event is larger than any of a chat') })
  }
}

/** Bills an answer that was too large to be held: by its usage, and without one as a stream that ended likewise. */
function settleLarge(large: LargeAnswer, reply: UpstreamReply, exchange: Settled): void {
  const { chat, bill } = exchange
  const usage = believedUsage(readChatUsage(large.usage), large.entries > 0)
  if (usage !== undefined) {
    settleByUsage(usage, reply, exchange)
  } else if (large.end === 'broken') {
    const part = { promptTokens: chat.promptTokensEstimate, relayedTextBytes: large.bytes }
    bill.settleByEstimate(brokenStreamCost(chat.model, { ...part, locked: bill.locked }))
  } else {
    bill.settleByEstimate(bill.locked)
  }
}

type Settled = Pick<Exchange, 'request' | 'chat' | 'bill'>

/** Bills what the upstream reports, as far as its model can have used it. */
function settleByUsage(
  reported: ChatUsage,
  { channel }: Pick<UpstreamReply, 'channel'>,
  { request, chat, bill }: Settled,
): void {
  const { model, choices } = chat
  const call = { requestId: request.requestId, channelId: channel.id, model, choices }
  const usage = usageWithinBounds(reported, call)
  request.note(tokensOf(usage))
  bill.settle(chatCost(model, usage))
}
