import { closingQuote } from '../json/json-scan.ts'
import { parseJsonText } from '../json/parse-json-text.ts'

/**
 * Fields of a choice, its message or its delta that hold nothing that a model generated. Any other field that is not empty
 * counts, so that nothing that an upstream may bill is overlooked.
 */
const NOT_GENERATED: ReadonlySet<string> = new Set([
  'index',
  'role',
  'logprobs',
  'finish_reason',
  'native_finish_reason',
  'stop_reason',
  'content_filter_results',
  'content_filter_offsets',
])

/**
 * Whether the choices of a chat reply, or of one chunk of a stream, hold anything that was generated. A first chunk often
 * has the role alone, beside strings and lists that are empty or null.
 */
export function hasGenerated(choices: unknown): boolean {
  return Array.isArray(choices) ? choices.some(isGenerated) : !isEmpty(choices)
}

/** As {@link hasGenerated}, for a JSON string; a string that is not JSON counts as generated. */
export function hasGeneratedJson(choices: string): boolean {
  try {
    return hasGenerated(parseJsonText(choices))
  } catch {
    return true
  }
}

/** Whether any choice of a whole reply has a message, even an empty one. */
export function hasMessage(choices: readonly unknown[]): boolean {
  return choices.some((choice) => isObject(choice) && 'message' in choice && isObject(choice.message))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Looks into a choice and its message or delta, and no deeper: an upstream may nest values until the stack is full. */
function isGenerated(choice: unknown): boolean {
  return hasMember(choice, (name, value) =>
    name === 'delta' || name === 'message' ? hasMember(value, (_, part) => !isEmpty(part)) : !isEmpty(value),
  )
}

function hasMember(part: unknown, isMeant: (name: string, value: unknown) => boolean): boolean {
  if (!isObject(part)) {
    return !isEmpty(part)
  }
  return Object.entries(part).some(([name, value]) => !NOT_GENERATED.has(name) && isMeant(name, value))
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  )
}

/** The opening quote of the fields that hold most of what a model generates. */
const GENERATED = /"(?:content|arguments|reasoning_content|reasoning|refusal)"\s*:\s*"/g

/** Bytes of the choices of a chunk around what was generated: index, role, empty text, reasons that are null. */
const EMPTY_CHOICES_BYTES = 100

/**
 * Bytes that were generated in the choices of a chunk, given as JSON. A field of another name is counted with some of the
 * syntax around it.
 * @param choices one character for each byte.
 */
export function generatedBytes(choices: string): number {
  let bytes = 0
  GENERATED.lastIndex = 0
  while (GENERATED.test(choices)) {
    const start = GENERATED.lastIndex
    bytes += closingQuote(choices, start - 1) - start
  }
  return bytes > 0 ? bytes : Math.max(0, choices.length - EMPTY_CHOICES_BYTES)
}
