import { readAnswerMembers } from './answer-members.ts'
import { type ChatUsage, readChatUsage } from './token-usage.ts'

/**
 * Reads a whole chat answer, its bytes given as text: what goes to the client, with the public model id spliced in and
 * every other byte as it came, and what there is to bill. Undefined when it is no JSON object.
 */
export function readChatAnswer(
  bytes: string,
  publicModel: string,
): { readonly relayed: string; readonly usage: ChatUsage | undefined } | undefined {
  const parsed = parse(bytes)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    return undefined
  }
  const { model } = readAnswerMembers(bytes)
  const relayed =
    model === undefined
      ? bytes
      : `${bytes.slice(0, model.start)}${JSON.stringify(publicModel)}${bytes.slice(model.end)}`
  return { relayed, usage: readChatUsage('usage' in parsed ? parsed.usage : undefined) }
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
