import type { ErrorFacts } from '#core/api/error-form.ts'
import type { ApiPlace } from '#core/catalogue/apis.ts'
import type { ChatModel } from '#core/catalogue/model.ts'
import { type JsonObject, parseJsonObject } from '#core/json/parse-json-text.ts'
import type { TokenCounts } from '#core/pricing/token-usage.ts'
import { allSteps, type Pushed } from '#core/relay/event-stream.ts'
import { SseEventReader } from '#core/relay/sse-events.ts'
import type { ReplyReader, WholeReply } from '#core/relay/whole-reply.ts'
import { chatToMessagesRequest, messagesToolNames } from '#core/translate/chat-request-to-messages.ts'
import { MessageEventTranslator, messageToChat } from '#core/translate/messages-reply-to-chat.ts'
import type { ClientRequest, RelayedStream, UpstreamRequest } from '../relay-protocol.ts'
import { messagesTarget } from './messages-target.ts'

type Target = {
  readonly place: ApiPlace
  readonly asked: Pick<ClientRequest, 'header'>
  readonly model: ChatModel
}

/** A chat request for an upstream that speaks messages alone. @param chat as a chat upstream would get it. */
export function chatOverMessages(chat: JsonObject, ignored: readonly string[], target: Target): UpstreamRequest {
  const { place, asked, model } = target
  const translated = chatToMessagesRequest(chat)
  const { model: upstreamModel, stream, max_tokens: older, max_completion_tokens: newer } = chat
  const limits = [older, newer].filter((limit) => typeof limit === 'number')
  const fallback = model.default_max_output_tokens ?? model.max_output_tokens
  const body = {
    model: upstreamModel,
    max_tokens: limits.length === 0 ? fallback : Math.min(...limits),
    ...translated.chat,
    ...(stream === true ? { stream } : {}),
  }
  return {
    ...messagesTarget(place, asked, { model }),
    text: JSON.stringify(body),
    ignored: [...ignored, ...translated.ignored],
  }
}

/** What the replies to a chat request are translated with. */
type Rules = ConstructorParameters<typeof MessageEventTranslator>[0]

/** @param chat has the tools of the request. */
export function messagesRules(chat: JsonObject, { nowMilliseconds }: Pick<ClientRequest, 'nowMilliseconds'>): Rules {
  return { names: messagesToolNames(chat), created: Math.trunc(nowMilliseconds / 1000) }
}

/** Reads a whole message as a reader of chat replies reads a chat. */
export class MessageAsChatReader<Usage> implements ReplyReader<Usage> {
  readonly #inner: ReplyReader<Usage>
  readonly #rules: Rules
  readonly #held: Uint8Array[] = []

  constructor(inner: ReplyReader<Usage>, rules: Rules) {
    this.#inner = inner
    this.#rules = rules
  }

  push(bytes: Uint8Array): void {
    this.#held.push(bytes)
  }

  end(): WholeReply<Usage> {
    const message = parseJsonObject(Buffer.concat(this.#held).toString('utf8'))
    const chat = message && messageToChat(message, this.#rules)
    if (chat === undefined) {
      return { kind: 'unusable', reason: 'the reply is no message' }
    }
    this.#inner.push(Buffer.from(JSON.stringify(chat)))
    return this.#inner.end()
  }
}

/** Reads the events of a message as a stream of chat reads its own. */
export class MessageAsChatStream implements RelayedStream<TokenCounts> {
  readonly #inner: RelayedStream<TokenCounts>
  readonly #translator: MessageEventTranslator
  readonly #events = new SseEventReader()
  readonly failure?: (error: ErrorFacts) => string

  constructor(inner: RelayedStream<TokenCounts>, rules: Rules) {
    this.#inner = inner
    this.#translator = new MessageEventTranslator(rules)
    if (inner.failure !== undefined) {
      this.failure = inner.failure.bind(inner)
    }
  }

  get state(): RelayedStream<TokenCounts>['state'] {
    return this.#inner.state
  }

  get hasBegun(): boolean {
    return this.#inner.hasBegun
  }

  get hasGenerated(): boolean {
    return this.#inner.hasGenerated
  }

  get isAtWork(): boolean {
    return this.#inner.isAtWork
  }

  get usage(): TokenCounts | undefined {
    return this.#translator.counts(this.hasGenerated)
  }

  get relayedTextBytes(): number {
    return this.#translator.textBytes
  }

  push(bytes: string): Pushed {
    const chat = this.#events.push(bytes).map(({ data }) => this.#chatOf(data))
    return this.#inner.push(chat.join(''))
  }

  end(): string | undefined {
    const last = this.#events.end()
    const chat = (last === undefined ? '' : this.#chatOf(last.data)) + this.#translator.end()
    const before = allSteps(this.#inner.push(chat))
    const rest = this.#inner.end()
    return rest === undefined ? undefined : before + rest
  }

  #chatOf(data: string | undefined): string {
    const text = data === undefined ? '' : Buffer.from(data, 'latin1').toString('utf8')
    return Buffer.from(text === '' ? '' : this.#translator.event(text)).toString('latin1')
  }
}
