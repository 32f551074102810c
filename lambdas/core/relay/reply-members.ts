import { topLevelFields } from '../json/json-fields.ts'

/** From `start` up to, not including, `end`. */
export type ModelSpan = { readonly start: number; readonly end: number }

/** The fields of an upstream's reply that the relay reads; everything else is relayed unchanged. */
type ReplyMembers = {
  /** Where the values of `model` stand, in the order of the text: every one of them, because it takes one to be seen. */
  readonly models: readonly ModelSpan[]
  /** JSON texts of the values. */
  readonly usage: string | undefined
  readonly choices: string | undefined
  readonly error: string | undefined
}

/** Finds them in a JSON object whose bytes are given as text. Of a repeated name the last counts, as with any parser. */
export function readReplyMembers(json: string): ReplyMembers {
  const models: ModelSpan[] = []
  const found: { -readonly [Name in keyof ReplyMembers]: ReplyMembers[Name] } = {
    models,
    usage: undefined,
    choices: undefined,
    error: undefined,
  }
  for (const { name, valueStart, valueEnd } of topLevelFields(json)) {
    if (name === 'model') {
      models.push({ start: valueStart, end: valueEnd })
    } else if (name === 'usage' || name === 'choices' || name === 'error') {
      found[name] = json.slice(valueStart, valueEnd)
    }
  }
  return found
}
