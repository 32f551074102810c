import { parsedOrUndefined } from '../json/parse-json-text.ts'
import type { Microcredits } from '../money.ts'
import { believedUsage, readTokenUsage, type TokenCounts } from '../pricing/token-usage.ts'
import { ChatScan } from './chat-scan.ts'
import { editsWithCost, isList, latin1Of, ReplyPieces, type ReplyRules } from './reply-scan.ts'

/** How a chat reply of status 200 is used. */
export type ChatReply =
  | {
      readonly kind: 'reply'
      readonly usage: TokenCounts | undefined
      /**
       * What the client gets: the reply with the public model id and without what is hidden.
       * @param cost shown in the usage; undefined for none.
       */
      readonly relayed: (cost: Microcredits | undefined) => readonly Uint8Array[]
    }
  /** The upstream reports an error of its own under a status of success, and nothing was generated. */
  | { readonly kind: 'error' }
  /** Not a JSON object with choices, or one without a message and without a usage. */
  | { readonly kind: 'unusable' }

/** Reads a whole chat reply piece by piece: the usage to bill, and how to write what the client gets. */
export class ChatReplyReader {
  readonly #scan: ChatScan
  readonly #pieces = new ReplyPieces()

  constructor({ publicModel, hidden }: ReplyRules) {
    this.#scan = new ChatScan({ hidden, modelJson: JSON.stringify(publicModel), list: 'choices' })
  }

  push(bytes: Uint8Array): void {
    this.#pieces.add(bytes)
    this.#scan.push(latin1Of(bytes))
  }

  end(): ChatReply {
    const scan = this.#scan
    const { hasGenerated, edits, markLength } = scan
    if (!scan.isValid || scan.isObject !== true) {
      return { kind: 'unusable' }
    }
    if (!hasGenerated && scan.hasError) {
      return { kind: 'error' }
    }
    const usage = believedUsage(readTokenUsage(parsedOrUndefined(scan.usage)), hasGenerated)
    if (!isList(scan.listCode) || (usage === undefined && !scan.hasMessage)) {
      return { kind: 'unusable' }
    }
    const pieces = this.#pieces
    const relayed = (cost: Microcredits | undefined) =>
      pieces.edited(markLength, pieces.length, editsWithCost(edits, cost))
    return { kind: 'reply', usage, relayed }
  }
}

type Part = Readonly<Record<string, unknown>>

/**
 * Makes a stream of a whole response, for an upstream that does not stream: one chunk with all choices, the usage where the
 * client wants it, and `[DONE]`. Undefined for a reply that cannot become a chunk: not a JSON object, a choice or message
 * that is not an object, or nesting too deep to be written again.
 */
export function chatReplyAsEvents(
  text: string,
  publicModel: string,
  { hasUsage }: { hasUsage: boolean },
): string | undefined {
  const reply = parsedOrUndefined(text.startsWith(DECODED_BYTE_ORDER_MARK) ? text.slice(1) : text)
  if (!isPart(reply)) {
    return undefined
  }
  const { choices, usage, ...rest } = reply
  const deltas = Array.isArray(choices) ? choices.map(toDelta) : []
  if (deltas.includes(undefined)) {
    return undefined
  }
  const common = { ...rest, object: 'chat.completion.chunk', model: publicModel }
  const chunks: object[] = [{ ...common, choices: deltas }]
  if (hasUsage && usage !== undefined) {
    chunks.push({ ...common, choices: [], usage })
  }
  const texts = chunks.map(stringify)
  return texts.includes(undefined) ? undefined : [...texts, '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
}

/** Writing recurses, reading does not: undefined where the stack is too short. */
function stringify(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

const DECODED_BYTE_ORDER_MARK = '\ufeff'

/** In a stream, each tool call says which one it belongs to. */
function toDelta(choice: unknown): object | undefined {
  if (!isPart(choice)) {
    return undefined
  }
  const { message, ...rest } = choice
  if (message === undefined || message === null) {
    return { ...rest, delta: {} }
  }
  if (!isPart(message)) {
    return undefined
  }
  const calls = message.tool_calls
  const indexed = Array.isArray(calls) ? { tool_calls: calls.map((call: Part, index) => ({ index, ...call })) } : {}
  return { ...rest, delta: { ...message, ...indexed } }
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
