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
