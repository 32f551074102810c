import type { FieldTree } from './field-tree.ts'
import { objectFields } from './json-fields.ts'
import { applyTextEdits, type TextEdit } from './text-edit.ts'

/** Where a field can be added to an object, after its last field. */
export type AdditionPlace = {
  readonly index: number
  /** Whether a field stays before this place, so that a comma is needed. */
  readonly isAfterField: boolean
}

/**
 * Follows the fields of one object in their order, and finds the spans to remove so that JSON is left: a field goes with the comma
 * before it, and the first field that stays loses its comma if only removed fields were before it.
 */
export class FieldRemoval {
  /** In the order of the text. */
  readonly edits: TextEdit[] = []
  readonly #commaFrom: (index: number) => number
  readonly #open: number
  #end: number
  #hasKept = false

  /**
   * @param open the place after the opening brace.
   * @param commaFrom the place of the next comma: only white space is before it.
   */
  constructor(open: number, commaFrom: (index: number) => number) {
    this.#open = open
    this.#end = open
    this.#commaFrom = commaFrom
  }

  /** The field that ends here stays. */
  keep(end: number): void {
    if (!this.#hasKept && this.#end !== this.#open) {
      this.#cut(this.#commaFrom(this.#end) + 1)
    }
    this.#hasKept = true
    this.#end = end
  }

  /** The field that ends here goes. */
  remove(end: number): void {
    this.#cut(end)
    this.#end = end
  }

  /** Edits of the value of the field that was kept last. A field may be repeated a million times, so they are no arguments. */
  add(edits: readonly TextEdit[]): void {
    for (const edit of edits) {
      this.edits.push(edit)
    }
  }

  get additionPlace(): AdditionPlace {
    return { index: this.#end, isAfterField: this.#hasKept }
  }

  #cut(end: number): void {
    this.edits.push({ start: this.#end, end, replacement: '' })
  }
}

/**
 * The edits that remove the fields of a tree from the object that begins at `start`; every other byte stays. Takes linear time.
 * @param json text with one character for each byte or decoded. Lists in it are not entered.
 */
export function removalEdits(
  json: string,
  start: number,
  hidden: FieldTree,
): { readonly edits: readonly TextEdit[]; readonly additionPlace: AdditionPlace } {
  const removal = new FieldRemoval(json.indexOf('{', start) + 1, (index) => json.indexOf(',', index))
  for (const { name, valueStart, valueEnd } of objectFields(json, start)) {
    const inner = hidden.get(name)
    if (inner === 'whole') {
      removal.remove(valueEnd)
    } else {
      removal.keep(valueEnd)
      if (inner !== undefined && json[valueStart] === '{') {
        removal.add(removalEdits(json, valueStart, inner).edits)
      }
    }
  }
  return removal
}

/** What may come before an object: a byte order mark, decoded or as bytes, and white space. */
const BEFORE_OBJECT = /^(?:\xef\xbb\xbf)?\s*(?=\{)/

/** A JSON object without the fields of a tree. Any other text stays as it is. */
export function withoutHidden(json: string, hidden: FieldTree): string {
  const before = BEFORE_OBJECT.exec(json)
  return before === null ? json : applyTextEdits(json, removalEdits(json, before[0].length, hidden).edits)
}
