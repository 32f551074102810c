import { closingQuote, isColonAt } from './json-scan.ts'

/** Limits of a JSON text, so that parsing it does not block a process for long. */
export type JsonBounds = {
  /** Levels of nested objects and arrays. */
  readonly depthMax: number
  /** Top-level fields. */
  readonly fieldsMax: number
  /** Strings (names of fields included), objects and arrays together. Numbers cost next to nothing. */
  readonly elementsMax: number
}

/** The characters that open or close strings, objects and arrays. */
const STRUCTURE = /["[\]{}]/g

/**
 * The first bound that a JSON text exceeds; undefined if there is none. Reads quotes and brackets alone, before the text is
 * parsed, in linear time and without recursion.
 */
export function exceededBound(text: string, bounds: JsonBounds): keyof JsonBounds | undefined {
  let depth = 0
  let fields = 0
  let elements = 0
  STRUCTURE.lastIndex = 0
  // A negative depth is no JSON; the parser reports that.
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
