import { readAnswerMembers } from './answer-members.ts'
import { type ChatUsage, readChatUsage } from './token-usage.ts'

/** What became of a chat answer of status 200. */
export type ChatAnswer =
  | { readonly kind: 'answer'; readonly relayed: string; readonly usage: ChatUsage | undefined }
  /** The upstream reports an error of its own under a status of success. */
  | { readonly kind: 'error' }
  /** No JSON object with choices. */
  | { readonly kind: 'unusable' }

/** UTF-8 of the byte order mark, which no JSON text begins with. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf'

/**
 * Reads a whole chat answer, its bytes given as text: what goes to the client, with the public model id spliced in and
 * every other byte as it came, and what there is to bill.
 */
export function readChatAnswer(answer: string, publicModel: string): ChatAnswer {
  const bytes = answer.startsWith(BYTE_ORDER_MARK) ? answer.slice(BYTE_ORDER_MARK.length) : answer
  const parsed = parse(bytes)
  if (typeof parsed !== 'object' || parsed === null) {
    return { kind: 'unusable' }
  }
  if (!('choices' in parsed && Array.isArray(parsed.choices))) {
    return { kind: 'error' in parsed && parsed.error !== null ? 'error' : 'unusable' }
  }
  const { model } = readAnswerMembers(bytes)
  const relayed =
    model === undefined
      ? bytes
      : `${bytes.slice(0, model.start)}${JSON.stringify(publicModel)}${bytes.slice(model.end)}`
  return { kind: 'answer', relayed, usage: readChatUsage('usage' in parsed ? parsed.usage : undefined) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Part = Readonly<Record<string, unknown>>

/**
 * A whole chat answer as the stream that was asked for, from an upstream that does not stream: a chunk with everything in
 * it, the usage where the client wants it, and `[DONE]`.
 * @param json a JSON object.
 */
export function chatAnswerAsEvents(json: string, publicModel: string, { hasUsage }: { hasUsage: boolean }): string {
  const { choices, usage, ...rest }: Part = JSON.parse(json)
  const common = { ...rest, object: 'chat.completion.chunk', model: publicModel }
  const chunks: object[] = [{ ...common, choices: Array.isArray(choices) ? choices.map(toDelta) : [] }]
  if (hasUsage && usage !== undefined) {
    chunks.push({ ...common, choices: [], usage })
  }
  return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
}

/** In a stream, each tool call says which one it belongs to. */
function toDelta({ message, ...rest }: { readonly message?: Part }): object {
  const calls = message?.tool_calls
  const indexed = Array.isArray(calls) ? { tool_calls: calls.map((call: Part, index) => ({ index, ...call })) } : {}
  return { ...rest, delta: { ...message, ...indexed } }
}
