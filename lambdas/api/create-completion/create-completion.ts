import { type CompletionRequest, parseCompletionRequest } from '#core/api/completion-request.ts'
import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { adviseOnOutput, type Microcredits } from '#core/money.ts'
import { type ChatCall, chatChargeMax, priceChatCalls } from '#core/pricing/relay-cost.ts'
import {
  believedUsage,
  chatUsageMax,
  checkTokenCounts,
  readTokenUsage,
  sumOfTokenCounts,
  type TokenCounts,
  tokensByLength,
} from '#core/pricing/token-usage.ts'
import type { CallEnd, CheckedUsage, Priced } from '#core/pricing/usage.ts'
import {
  type ChatChannel,
  measureCompletionCalls,
  prepareCompletionCalls,
  type WriteCompletionCall,
} from '#core/relay/chat-call.ts'
import { ChatStream } from '#core/relay/chat-stream.ts'
import {
  type CompletionHead,
  CompletionStream,
  CompletionWriter,
  readChatChoices,
} from '#core/relay/completion-reply.ts'
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

/** All completions that a request may ask for, at any model's length, stay below. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024

/**
 * What all calls of one request together may repeat of its body: 64 KiB for each of 128 prompts. Without a bound, a body of
 * 5 MiB would become 640 MiB on the way upstream.
 */
const REPEATED_BYTES_MAX = 8 * 1024 * 1024

const REPEATED_MESSAGE = `\`prompt\` holds too many strings: each repeats all other fields upstream, which may take at most ${REPEATED_BYTES_MAX / 1024 / 1024} MiB in total; send fewer strings or shorter fields`

const completionProtocol: RelayProtocol<TokenCounts> = {
  path: '/chat/completions',
  fields: 'completions',
  read: ({ body, caller, requestId }, { catalogue, nowMilliseconds }) => {
    const completion = parseCompletionRequest(body.json, { catalogue, allowedModels: caller.models })
    const { id } = completion.model
    return new Completion(body.text, completion, {
      rules: { publicModel: id, hidden: hiddenFields(catalogue.config) },
      longestCall: channelOfAll(catalogue.configuredRelayChannels(id)),
      fallback: { id: `cmpl-${requestId}`, created: Math.trunc(nowMilliseconds() / 1000) },
    })
  },
}

/** POST /v1/completions */
export async function createCompletion(exchange: RelayExchange, context: RelayContext): Promise<void> {
  await runRequest(exchange, context, completionProtocol)
}

/** A channel whose calls are as long as the longest calls of these channels. */
function channelOfAll(channels: readonly ChatChannel[]): ChatChannel {
  const chat = channels.flatMap((channel) => channel.pass_members.chat)
  const longer = channels.find((channel) => channel.output_limit_member === 'max_completion_tokens')
  return { pass_members: { chat, embeddings: [], images: [] }, output_limit_member: longer?.output_limit_member }
}

type Surroundings = {
  readonly rules: ReplyRules
  readonly longestCall: ChatChannel
  /** Replaces an id and a time that an upstream leaves out. */
  readonly fallback: CompletionHead
}

/** One legacy completion: a chat call for each prompt. */
class Completion implements RelayRequest<TokenCounts> {
  readonly list = 'choices'
  readonly bytesMax = REPLY_BYTES_MAX
  readonly passesLarge = false
  readonly rules: ReplyRules
  readonly #text: string
  readonly #completion: CompletionRequest
  readonly #longestCall: ChatChannel
  readonly #writeCall: WriteCompletionCall
  readonly #writer: CompletionWriter
  #bounds: readonly ChatCall[] = []
  /** Of the prompts so far. */
  readonly #elements: object[] = []
  #events = ''

  constructor(text: string, completion: CompletionRequest, { rules, longestCall, fallback }: Surroundings) {
    this.#text = text
    this.#completion = completion
    this.#longestCall = longestCall
    this.#writeCall = prepareCompletionCalls(text, completion)
    this.#writer = new CompletionWriter(completion, fallback)
    this.rules = rules
  }

  get model() {
    return this.#completion.model
  }

  get calls(): number {
    return this.#completion.prompts.length
  }

  get facts() {
    return { stream: this.#completion.stream, prompts: this.calls }
  }

  /**
   * No tokenizer makes more tokens than bytes, and the call's own syntax is longer than what a chat template adds.
   * @throws InvalidRequestError where the prompts together would repeat the other fields above {@link REPEATED_BYTES_MAX}.
   */
  estimate() {
    const { model, n: choices, maxTokens: outputTokensMax } = this.#completion
    const { common, calls } = measureCompletionCalls(this.#text, this.#completion, this.#longestCall)
    if (calls.length > 1 && calls.length * common > REPEATED_BYTES_MAX) {
      throw new InvalidRequestError([{ path: 'prompt', message: REPEATED_MESSAGE }])
    }
    this.#bounds = calls.map((bytes) => {
      const promptTokensMax = Math.min(model.context_tokens, bytes)
      const promptTokensEstimate = Math.min(promptTokensMax, tokensByLength(bytes))
      return { promptTokensMax, promptTokensEstimate, outputTokensMax, choices }
    })
    return chatChargeMax(model, ...this.#bounds)
  }

  advise(available: Microcredits): string | undefined {
    const { model, maxTokens, maxTokensField } = this.#completion
    const boundsOf = (outputTokensMax: number) => this.#bounds.map((bounds) => ({ ...bounds, outputTokensMax }))
    const costOf = (outputTokensMax: number) => chatChargeMax(model, ...boundsOf(outputTokensMax)).amount
    return adviseOnOutput(available, { model, name: maxTokensField, most: maxTokens, costOf })
  }

  body(promptIndex: number, { channel, upstreamModel }: CallTarget) {
    return this.#writeCall({ promptIndex, model: upstreamModel, channel })
  }

  reader(promptIndex: number): ReplyReader<TokenCounts> {
    const held: Buffer[] = []
    return {
      push: (bytes) => held.push(bytes),
      end: () => this.#keep(promptIndex, Buffer.concat(held).toString('utf8')),
    }
  }

  #keep(promptIndex: number, text: string): WholeReply<TokenCounts> {
    const reply = readChatChoices(text)
    if (reply === undefined) {
      return { kind: 'unusable', reason: 'the reply is not a chat completion' }
    }
    if (this.#completion.stream) {
      this.#events = this.#writer.events(promptIndex, reply)
    } else {
      this.#elements.push(...this.#writer.elements(promptIndex, reply))
    }
    return { kind: 'reply', usage: reply.usage }
  }

  usageOfLarge({ usage, entries }: { readonly usage: unknown; readonly entries: number }): TokenCounts | undefined {
    return believedUsage(readTokenUsage(usage), entries > 0)
  }

  check(usage: TokenCounts): CheckedUsage<TokenCounts> {
    const { model, n } = this.#completion
    return checkTokenCounts(usage, chatUsageMax(model, n))
  }

  price(ends: readonly CallEnd<TokenCounts>[]): Priced | undefined {
    return priceChatCalls(this.model, this.#bounds, ends)
  }

  respond(ends: readonly CallEnd<TokenCounts>[], cost: Microcredits | undefined): readonly Uint8Array[] {
    return [Buffer.from(this.#writer.whole(this.#elements, sumOfUsages(ends), cost))]
  }

  get streaming(): RequestStream<TokenCounts> | undefined {
    const { stream, n } = this.#completion
    if (!stream) {
      return undefined
    }
    return {
      open: (promptIndex, { withoutCredentials }) => {
        const costOf = () => undefined
        const chat = new ChatStream({ ...this.rules, relaysUsage: false, choices: n, withoutCredentials, costOf })
        return new CompletionStream({ chat, writer: this.#writer, promptIndex, n })
      },
      events: () => this.#events,
      end: (ends, cost) => this.#writer.end(sumOfUsages(ends), cost),
    }
  }
}

/** Undefined if one of the usages is: a part of a sum is no usage. */
function sumOfUsages(ends: readonly CallEnd<TokenCounts>[]): TokenCounts | undefined {
  const known = ends.flatMap(({ usage }) => usage ?? [])
  return known.length === ends.length ? sumOfTokenCounts(known) : undefined
}
