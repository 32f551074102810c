import { parseJsonText } from '../json/parse-json-text.ts'
import { type ReplyMembers, readReplyMembers, type WrittenRules } from './reply-members.ts'

/** The fields of a chunk of a stream. Undefined for data that is not a JSON object, which is relayed unchanged. */
export function chunkMembers(data: string, rules: WrittenRules): ReplyMembers | undefined {
  return data.startsWith('{') || data.trimStart().startsWith('{') ? readReplyMembers(data, rules) : undefined
}

/** The value of a field; undefined for none, for null, and for one that is not JSON. */
export function parsedMember(json: string | undefined): unknown {
  if (json === undefined || json === 'null') {
    return undefined
  }
  try {
    return parseJsonText(json)
  } catch {
    return undefined
  }
}
