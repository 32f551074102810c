import { topLevelMembers } from '../json-members.ts'

/** The members of an upstream's answer that the relay looks at; everything else goes on as it came. */
type AnswerMembers = {
  /** Where the value of `model` stands; undefined when there is none. */
  readonly model: { readonly start: number; readonly end: number } | undefined
  /** JSON texts of the values. */
  readonly usage: string | undefined
  readonly choices: string | undefined
  readonly error: string | undefined
}

/** Finds them in a JSON object whose bytes are given as text. Of a repeated name the last counts, as with any parser. */
export function readAnswerMembers(json: string): AnswerMembers {
  const found: { -readonly [Name in keyof AnswerMembers]: AnswerMembers[Name] } = {
    model: undefined,
    usage: undefined,
    choices: undefined,
    error: undefined,
  }
  for (const { name, valueStart, valueEnd } of topLevelMembers(json)) {
    if (name === 'model') {
      found.model = { start: valueStart, end: valueEnd }
    } else if (name === 'usage' || name === 'choices' || name === 'error') {
      found[name] = json.slice(valueStart, valueEnd)
    }
  }
  return found
}
