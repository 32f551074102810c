import type { FieldTree } from './field-tree.ts'
import { JsonScan } from './json-scan.ts'
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

  /** Edits of the value of the field that was kept last. */
  add(edits: readonly TextEdit[]): void {
    pushAll(this.edits, edits)
  }

  get additionPlace(): AdditionPlace {
    return { index: this.#end, isAfterField: this.#hasKept }
  }

  #cut(end: number): void {
    this.edits.push({ start: this.#end, end, replacement: '' })
  }
}

/** No real reply is deeper. What is deeper stays as it is, so that the stack is never full. */
const DEPTH_MAX = 64

type Removal = { readonly edits: readonly TextEdit[]; readonly additionPlace: AdditionPlace }

/**
 * The edits that remove the fields of a tree from the object or list that begins at `start`; every other byte stays. Takes linear time.
 * @param json text with one character for each byte or decoded.
 * @returns also where a field can be added, if it is an object.
 */
export function removalEdits(json: string, start: number, hidden: FieldTree): Removal {
  const scan = new JsonScan(json)
  scan.index = start
  return removeFromValue(scan, hidden, 0)
}

function removeFromValue(scan: JsonScan, hidden: FieldTree, depth: number): Removal {
  const kind = scan.nextKind()
  if (kind === 'object' && depth < DEPTH_MAX) {
    return removeFromObject(scan, hidden, depth)
  }
  const edits: TextEdit[] = []
  if (kind === 'list' && depth < DEPTH_MAX && hidden.inList !== undefined) {
    scan.index += 1
    while (!scan.isOver()) {
      pushAll(edits, removeFromValue(scan, hidden.inList, depth + 1).edits)
      scan.skipComma()
    }
  } else {
    scan.skipValue()
  }
  return { edits, additionPlace: { index: scan.index, isAfterField: false } }
}

/** Of an object that breaks off, only fields whose values are complete are removed. */
function removeFromObject(scan: JsonScan, hidden: FieldTree, depth: number): Removal {
  scan.index += 1
  const removal = new FieldRemoval(scan.index, (index) => scan.text.indexOf(',', index))
  while (!scan.isOver()) {
    const inner = hidden.get(scan.readName())
    let edits: readonly TextEdit[] = []
    if (inner === undefined || inner === 'whole') {
      scan.skipValue()
    } else {
      edits = removeFromValue(scan, inner, depth + 1).edits
    }
    const end = scan.index
    scan.skipSpace()
    if (scan.isAtEnd) {
      return removal
    }
    if (inner === 'whole') {
      removal.remove(end)
    } else {
      removal.keep(end)
      removal.add(edits)
    }
    scan.skipComma()
  }
  return removal
}

/** What may come before JSON: a byte order mark, decoded or as bytes, and white space. */
const BEFORE_JSON = /^(?:\xef\xbb\xbf)?\s*(?=[{[])/

/** A JSON object or list without the fields of a tree. Any other text stays as it is. */
export function withoutHidden(json: string, hidden: FieldTree): string {
  const before = BEFORE_JSON.exec(json)
  return before === null ? json : applyTextEdits(json, removalEdits(json, before[0].length, hidden).edits)
}

/** A field may be repeated a million times, so the edits are no arguments. */
function pushAll(list: TextEdit[], edits: readonly TextEdit[]): void {
  for (const edit of edits) {
    list.push(edit)
  }
}
