import { isJsonObject, parsedOrUndefined } from '#core/json/parse-json-text.ts'
import { believedUsage, readTokenUsage, type TokenCounts } from '#core/pricing/token-usage.ts'
import { isList, type ReplyRules } from '#core/relay/reply-scan.ts'
import { END_OF_STREAM } from '#core/relay/sse-events.ts'
import { ScannedReply, type WholeReply } from '#core/relay/whole-reply.ts'
import { ChatScan } from './chat-stream.ts'

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
