import { type AllowedFields, allowedFields, keepAllowedFields, type PassedBody } from '#core/allowed-fields.ts'
import { servedBy } from '#core/api/agent-request.ts'
import { type ChatRequest, parseChatRequest } from '#core/api/chat-request.ts'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { changeOutputLimit } from '#core/catalogue/parameters.ts'
import { replaceFields, withoutFields } from '#core/json/json-fields.ts'
import { isJsonObject, parsedOrUndefined } from '#core/json/parse-json-text.ts'
import { tokenBilling } from '#core/pricing/relay-cost.ts'
import { believedUsage, readTokenUsage, type TokenCounts } from '#core/pricing/token-usage.ts'
import { isList, type ReplyRules } from '#core/relay/reply-scan.ts'
import { END_OF_STREAM } from '#core/relay/sse-events.ts'
import { ScannedReply, type WholeReply } from '#core/relay/whole-reply.ts'
import { defineRelayRoute } from '../run-request.ts'
import { rankSpeakers } from './agent-calls.ts'
import { askForUsage, type ChatChannel, ChatScan, ChatStream } from './chat-stream.ts'

/** The largest chat reply that is held whole, in several copies; images in it included. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024

/** POST /v1/chat/completions: a request that is relayed as it is. */
export const chat = defineRelayRoute<TokenCounts>({
  operation: 'create-chat-completion',
  errors: OPENAI_ERRORS,
  read: (asked) => {
    const request = parseChatRequest(asked.json, asked)
    const { model, stream, includeUsage, choices } = request
    return {
      model,
      facts: { stream },
      calls: 1,
      rankOf: rankSpeakers('chat', model),
      billing: tokenBilling(model, [request], outputLimit(request)),
      write: (_, { channel, upstreamModel }) => ({
        path: servedBy('chat', channel, model.id).place.path,
        ...upstreamChatBody(asked.text, { upstreamModel, chat: request, channel }),
      }),
      reader: (_, rules) => new ChatReplyReader(rules, includeUsage),
      large: { list: 'choices', bytesMax: REPLY_BYTES_MAX, areRelayed: true },
      streaming: stream
        ? { open: (_, rules) => new ChatStream({ ...rules, relaysUsage: includeUsage, choices }) }
        : undefined,
    }
  },
})

/** The longest field `max_tokens` that a client adds to a body, with the white space around. No tokenizer makes more tokens than bytes. */
const ADDED_LIMIT_BYTES = 40

/** Of two limits, the larger one was reserved. */
function outputLimit({ askedLimits: { max_tokens: older, max_completion_tokens: newer } }: ChatRequest) {
  return {
    name: newer == null || (older ?? 0) > newer ? 'max_tokens' : 'max_completion_tokens',
    addedTokens: older == null && newer == null ? ADDED_LIMIT_BYTES : 0,
  }
}

type ChatCall = {
  readonly upstreamModel: string
  readonly chat: Pick<ChatRequest, 'model' | 'stream' | 'streamOptions' | 'askedLimits'>
  readonly channel: ChatChannel
}

/**
 * Writes the body for an upstream: the client's fields that pass, with the upstream's model id, the output limit under the
 * channel's name for it and, for a stream, the request for the usage. Every other byte stays.
 */
export function upstreamChatBody(bodyText: string, { upstreamModel, chat, channel }: ChatCall): PassedBody {
  const allowed = allowedFields('chat', channel.pass_members.chat)
  const { text, ignored } = keepAllowedFields(bodyText, allowed)
  const written = new Map([['model', JSON.stringify(upstreamModel)]])
  if (chat.stream) {
    written.set('stream_options', streamOptions(chat, allowed))
  }
  const { write, leaveOut } = changeOutputLimit(chat.askedLimits, {
    wanted: channel.output_limit_member,
    fallback: chat.model.default_max_output_tokens,
  })
  if (write !== undefined) {
    written.set(write.name, String(write.tokens))
  }
  const kept = leaveOut === undefined ? text : withoutFields(text, new Set([leaveOut]))
  return { text: replaceFields(kept, written), ignored }
}

function streamOptions({ streamOptions: own }: Pick<ChatRequest, 'streamOptions'>, { fields }: AllowedFields): string {
  const allowed = fields.get('stream_options')
  const json = JSON.stringify(own)
  return askForUsage(allowed === undefined || allowed === 'whole' ? json : keepAllowedFields(json, allowed).text)
}

/** Reads a whole chat reply: the usage to bill, and how to write what the client gets. */
export class ChatReplyReader extends ScannedReply<TokenCounts, ChatScan> {
  readonly #publicModel: string
  readonly #hasUsage: boolean

  /** @param hasUsage whether a client that wants a stream wants its usage. */
  constructor({ publicModel, hidden }: ReplyRules, hasUsage: boolean) {
    super(new ChatScan({ hidden, modelJson: JSON.stringify(publicModel), list: 'choices' }))
    this.#publicModel = publicModel
    this.#hasUsage = hasUsage
  }

  end(): WholeReply<TokenCounts> {
    const { isValid, isObject, hasGenerated, hasError, usage: reported, listCode, hasMessage } = this.scan
    const unusable = { kind: 'unusable', reason: 'the reply has no `choices[].message`' } as const
    if (!isValid || isObject !== true) {
      return unusable
    }
    if (!hasGenerated && hasError) {
      return { kind: 'error' }
    }
    const usage = believedUsage(readTokenUsage(parsedOrUndefined(reported)), hasGenerated)
    if (!isList(listCode) || (usage === undefined && !hasMessage)) {
      return unusable
    }
    return {
      kind: 'reply',
      usage,
      relayed: (cost) => this.relayed(cost),
      events: (cost) => this.#events(parsedOrUndefined(Buffer.concat(this.relayed(cost)).toString('utf8'))),
    }
  }

  /** One chunk with all choices, the usage where the client wants it, and `[DONE]`. */
  #events(reply: unknown): string | undefined {
    const { choices, usage, ...rest } = isJsonObject(reply) ? reply : {}
    const deltas = Array.isArray(choices) ? choices.map(toDelta) : []
    if (deltas.includes(undefined)) {
      return undefined
    }
    const common = { ...rest, object: 'chat.completion.chunk', model: this.#publicModel }
    const chunks: object[] = [{ ...common, choices: deltas }]
    if (this.#hasUsage && usage !== undefined) {
      chunks.push({ ...common, choices: [], usage })
    }
    const texts = chunks.map(stringify)
    return texts.includes(undefined) ? undefined : [...texts, END_OF_STREAM].map((data) => `data: ${data}\n\n`).join('')
  }
}

/** Writing recurses, reading does not: undefined where the stack is too short. */
function stringify(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** A choice as the chunk of a stream; undefined if it or its message is no object. In a stream, each tool call says which one it belongs to. */
function toDelta(choice: unknown): object | undefined {
  if (!isJsonObject(choice)) {
    return undefined
  }
  const { message, ...rest } = choice
  if (message === undefined || message === null) {
    return { ...rest, delta: {} }
  }
  if (!isJsonObject(message)) {
    return undefined
  }
  const calls = message.tool_calls
  const indexed = Array.isArray(calls) ? { tool_calls: calls.map((call: object, index) => ({ index, ...call })) } : {}
  return { ...rest, delta: { ...message, ...indexed } }
}
