import { closingQuote } from './json-members.ts'

/** How much a JSON text may hold, so that reading it does not keep a process busy for long. */
export type JsonBounds = {
  /** Levels of objects and lists inside each other. */
  readonly depthMax: number
  /** Fields of the object that the text is. */
  readonly fieldsMax: number
  /** Strings (the names of fields among them), objects and lists together. Numbers cost next to nothing. */
  readonly elementsMax: number
}

/** Quotes and brackets: nothing else of a JSON text opens or closes anything. */
const STRUCTURE = /["[\]{}]/g

/** What follows the name of a field. */
const COLON = /[\t\n\r ]*:/y

/**
 * The first bound that a JSON text is found to be above; undefined when it is within all. Looks at quotes and brackets alone,
 * before anything is parsed: linear, without recursion.
 */
export function exceededBound(text: string, bounds: JsonBounds): keyof JsonBounds | undefined {
  let depth = 0
  let fields = 0
  let elements = 0
  STRUCTURE.lastIndex = 0
  // A text that closes more than it opened is no JSON: its parser will say so.
  while (depth >= 0 && STRUCTURE.test(text)) {
    const index = STRUCTURE.lastIndex - 1
    const character = text[index]
    if (character === ']' || character === '}') {
      depth -= 1
      continue
    }
    elements += 1
    if (character === '"') {
      STRUCTURE.lastIndex = closingQuote(text, index) + 1
      fields += depth === 1 && isColonAt(text, STRUCTURE.lastIndex) ? 1 : 0
    } else {
      depth += 1
    }
    if (depth > bounds.depthMax) {
      return 'depthMax'
    }
    if (fields > bounds.fieldsMax) {
      return 'fieldsMax'
    }
    if (elements > bounds.elementsMax) {
      return 'elementsMax'
    }
  }
  return undefined
}

function isColonAt(text: string, index: number): boolean {
  COLON.lastIndex = index
  return COLON.test(text)
}
