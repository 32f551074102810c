import { type FieldTree, maySomewhereHave } from '../json/field-tree.ts'
import { topLevelFields } from '../json/json-fields.ts'
import { type AdditionPlace, FieldRemoval, removalEdits } from '../json/remove-fields.ts'
import type { TextEdit } from '../json/text-edit.ts'
import type { Microcredits } from '../money.ts'
import { costAddition } from './cost-field.ts'

/** How the gateway changes the replies of upstreams; everything else is relayed unchanged. */
export type ReplyRules = {
  /** The model id that the client knows. */
  readonly publicModel: string
  /** What no client sees. It contains any price in a usage, because the gateway writes its own `usage.cost`. */
  readonly hidden: FieldTree
}

/** The rules, with the public id as JSON: it replaces every top-level `model`. */
export type WrittenRules = { readonly modelJson: string; readonly hidden: FieldTree }

/** Prepares the rules for many replies. */
export function writtenRules({ publicModel, hidden }: ReplyRules): WrittenRules {
  return { modelJson: JSON.stringify(publicModel), hidden }
}

/** The fields of an upstream's reply that the relay reads, and the changes that it makes. */
export type ReplyMembers = {
  /** Of the models and of what is hidden: every one of them, because it takes one to be seen. */
  readonly edits: readonly TextEdit[]
  /** Where the cost can be added to each `usage`. */
  readonly usages: readonly AdditionPlace[]
  /** JSON texts of the values. */
  readonly usage: string | undefined
  readonly choices: string | undefined
  readonly error: string | undefined
}

/**
 * Finds them in a JSON object whose bytes are given as text, in one pass. Of a repeated name the last counts, as with any parser.
 * @param rules left out by readers that relay nothing.
 */
export function readReplyMembers(json: string, rules?: WrittenRules): ReplyMembers {
  const found: Pick<{ -readonly [Name in keyof ReplyMembers]: ReplyMembers[Name] }, 'usage' | 'choices' | 'error'> = {
    usage: undefined,
    choices: undefined,
    error: undefined,
  }
  const usages: AdditionPlace[] = []
  const removal = new FieldRemoval(json.indexOf('{') + 1, (index) => json.indexOf(',', index))
  const { edits } = removal
  for (const { name, valueStart, valueEnd } of topLevelFields(json)) {
    const hidden = rules?.hidden.get(name)
    if (name === 'usage' || name === 'choices' || name === 'error') {
      found[name] = json.slice(valueStart, valueEnd)
    }
    if (hidden === 'whole') {
      removal.remove(valueEnd)
      continue
    }
    removal.keep(valueEnd)
    if (rules !== undefined && name === 'model') {
      if (json.slice(valueStart, valueEnd) !== rules.modelJson) {
        edits.push({ start: valueStart, end: valueEnd, replacement: rules.modelJson })
      }
    } else if (
      hidden !== undefined &&
      isNested(json, valueStart) &&
      maySomewhereHave(hidden, json.slice(valueStart, valueEnd))
    ) {
      const inner = removalEdits(json, valueStart, hidden)
      removal.add(inner.edits)
      if (name === 'usage' && json[valueStart] === '{') {
        usages.push(inner.additionPlace)
      }
    }
  }
  return { edits, usages, usage: found.usage, choices: found.choices, error: found.error }
}

/** Whether an object or a list begins here. */
function isNested(json: string, index: number): boolean {
  return json[index] === '{' || json[index] === '['
}

/** All changes of a reply: those of its fields, and the cost in each usage if there is one to show. */
export function replyEdits({ edits, usages }: Pick<ReplyMembers, 'edits' | 'usages'>, cost: Microcredits | undefined) {
  return cost === undefined ? edits : [...edits, ...usages.map((place) => costAddition(place, cost))]
}
