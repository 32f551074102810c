import { type ChatRequest, parseChatRequest } from '#core/api/chat-request.ts'
import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import { adviseOnOutput, type Microcredits } from '#core/money.ts'
import { chatChargeMax, priceChatCalls } from '#core/pricing/relay-cost.ts'
import {
  believedUsage,
  chatUsageMax,
  checkTokenCounts,
  readTokenUsage,
  type TokenCounts,
} from '#core/pricing/token-usage.ts'
import type { CallEnd, CheckedUsage, Priced } from '#core/pricing/usage.ts'
import { upstreamChatBody } from '#core/relay/chat-call.ts'
import { type ChatReply, ChatReplyReader, chatReplyAsEvents } from '#core/relay/chat-reply.ts'
import { ChatStream } from '#core/relay/chat-stream.ts'
import type { ReplyRules } from '#core/relay/reply-scan.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { RelayExchange } from '../../relay/relay-exchange.ts'
import {
  type CallTarget,
  type RelayProtocol,
  type RelayRequest,
  type ReplyReader,
  type RequestStream,
  runRequest,
  type WholeReply,
} from '../../relay/run-request.ts'

/** The largest chat reply that is held whole, in several copies; images in it included. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024

/** The longest field `max_tokens` that a client adds to a body, with the white space around. */
const ADDED_LIMIT_BYTES = 40

const chatProtocol: RelayProtocol<TokenCounts> = {
  path: '/chat/completions',
  fields: 'chat',
  read: ({ body, caller }, { catalogue }) => {
    const chat = parseChatRequest(body.json, { catalogue, allowedModels: caller.models, bodyBytes: body.bytes })
    return new Chat(body.text, chat, { publicModel: chat.model.id, hidden: hiddenFields(catalogue.config) })
  },
}

/** POST /v1/chat/completions */
export async function createChatCompletion(exchange: RelayExchange, context: RelayContext): Promise<void> {
  await runRequest(exchange, context, chatProtocol)
}

/** One chat request, which is relayed as it is. */
class Chat implements RelayRequest<TokenCounts> {
  readonly calls = 1
  readonly list = 'choices'
  readonly bytesMax = REPLY_BYTES_MAX
  readonly rules: ReplyRules
  readonly #text: string
  readonly #chat: ChatRequest
  #reply: Extract<ChatReply, { kind: 'reply' }> | undefined

  constructor(text: string, chat: ChatRequest, rules: ReplyRules) {
    this.#text = text
    this.#chat = chat
    this.rules = rules
  }

  get model() {
    return this.#chat.model
  }

  get facts() {
    return { stream: this.#chat.stream }
  }

  get passesLarge(): boolean {
    return !this.#chat.stream
  }

  estimate() {
    return chatChargeMax(this.model, this.#chat)
  }

  /** The longest output that a balance covers. A limit that is added makes the prompt's bound longer. */
  advise(available: Microcredits): string | undefined {
    const { model, askedLimits, ...chat } = this.#chat
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

  body(_call: number, { channel, upstreamModel }: CallTarget) {
    return upstreamChatBody(this.#text, { upstreamModel, chat: this.#chat, channel })
  }

  reader(): ReplyReader<TokenCounts> {
    const reader = new ChatReplyReader(this.rules)
    return { push: (bytes) => reader.push(bytes), end: () => this.#keep(reader.end()) }
  }

  #keep(reply: ChatReply): WholeReply<TokenCounts> {
    if (reply.kind === 'reply') {
      this.#reply = reply
    }
    return reply.kind === 'unusable' ? { ...reply, reason: 'the reply has no `choices[].message`' } : reply
  }

  usageOfLarge({ usage, entries }: { readonly usage: unknown; readonly entries: number }): TokenCounts | undefined {
    return believedUsage(readTokenUsage(usage), entries > 0)
  }

  check(usage: TokenCounts): CheckedUsage<TokenCounts> {
    const { model, choices, imageTokensMax } = this.#chat
    return checkTokenCounts(usage, chatUsageMax(model, choices, imageTokensMax))
  }

  price(ends: readonly CallEnd<TokenCounts>[]): Priced | undefined {
    return priceChatCalls(this.model, [this.#chat], ends)
  }

  respond(_ends: readonly CallEnd<TokenCounts>[], cost: Microcredits | undefined): readonly Uint8Array[] {
    return this.#reply?.relayed(cost) ?? []
  }

  get streaming(): RequestStream<TokenCounts> | undefined {
    const { stream, includeUsage, choices } = this.#chat
    if (!stream) {
      return undefined
    }
    return {
      open: (_call, { withoutCredentials }, costOf) =>
        new ChatStream({ ...this.rules, relaysUsage: includeUsage, choices, withoutCredentials, costOf }),
      events: (_call, cost) => chatReplyAsEvents(this.#replyText(cost), this.model.id, { hasUsage: includeUsage }),
      // The upstream's own end was relayed.
      end: () => '',
    }
  }

  #replyText(cost: Microcredits | undefined): string {
    return Buffer.concat(this.#reply?.relayed(cost) ?? []).toString('utf8')
  }
}
