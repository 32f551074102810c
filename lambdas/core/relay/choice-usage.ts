import { isJsonObject } from '../json/json-object.ts'
import { parseJsonText } from '../json/parse-json-text.ts'

/**
 * The usage of a chunk whose upstream reports it in the choice instead of beside the choices, as Moonshot does in streams.
 * @param choices the parsed choices of the chunk.
 */
export function usageOfChoice(choices: unknown): unknown {
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isJsonObject(first) ? first.usage : undefined
}

/** As {@link usageOfChoice}, for JSON. The choices of nearly all chunks have none, and are not parsed. */
export function usageOfChoiceJson(choices: string): unknown {
  if (!choices.includes('"usage"')) {
    return undefined
  }
  try {
    return usageOfChoice(parseJsonText(choices))
  } catch {
    return undefined
  }
}
