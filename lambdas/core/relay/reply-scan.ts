import type { FieldTree } from '../json/json-fields.ts'
import {
  CLOSE,
  CLOSE_BRACE,
  type JsonScanner,
  MORE,
  NAME,
  OPEN,
  OPEN_BRACE,
  OPEN_BRACKET,
  PieceScanner,
  QUOTE,
  SCALAR,
} from '../json/json-scanner.ts'
import { formatCredits, type Microcredits } from '../money.ts'

/** How the gateway changes the replies of upstreams; everything else is relayed unchanged. */
export type ReplyRules = {
  /** The model id that the client knows. */
  readonly publicModel: string
  /** What no client sees. It contains any price in a usage, because the gateway writes its own `usage.cost`. */
  readonly hidden: FieldTree
}

/** A change of a text: a span, and what replaces it. An empty span is an insertion. */
export type Edit = {
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** In bytes, where that is written already. */
  readonly bytes?: Uint8Array | undefined
  /** The cost of the reply goes here, if one is shown: after a comma, or as the first field of its object. */
  readonly cost?: 'after a comma' | 'first' | undefined
}

/** The edits of a reply that shows this cost; none if undefined. */
export function editsWithCost(edits: readonly Edit[], cost: Microcredits | undefined): readonly Edit[] {
  if (!edits.some((edit) => edit.cost !== undefined)) {
    return edits
  }
  return edits
    .filter((edit) => edit.cost === undefined || cost !== undefined)
    .map((edit) =>
      edit.cost === undefined || cost === undefined ? edit : { ...edit, replacement: costField(edit, cost) },
    )
}

function costField({ cost: place }: Edit, amount: Microcredits): string {
  return `${place === 'first' ? '' : ','}"cost":${formatCredits(amount)}`
}

/**
 * An amount as a JavaScript number of credits, which JSON writes with the exact digits of the amount: up to 15 digits stay exact, and
 * no bill has more.
 */
export function costNumber(amount: Microcredits): number {
  return Number(formatCredits(amount))
}

/** Applies edits in the order of the text, which do not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) {
    return text
  }
  const pieces: string[] = []
  let keptFrom = 0
  for (const { start, end, replacement } of edits) {
    pieces.push(text.slice(keptFrom, start), replacement)
    keptFrom = end
  }
  pieces.push(text.slice(keptFrom))
  return pieces.join('')
}

/**
 * Where a value stands, for those who read a reply: a reader of a list adds places of its own. `TOP` is the object of the reply, which an
 * event may hold in a field.
 */
export const TOP = 0
export const LIST = 1
export const ENTRY = 2
/** A value whose fields are looked at. */
export const INSIDE = 3
/** A value that nobody looks at, unless it has hidden fields. */
export const ELSEWHERE = 4
/** A value that has no hidden fields either. */
export const UNREAD = 5

/** What becomes of the value of a field. */
const KEEP = 0
const REMOVE = 1
const REPLACE = 2

/** An object or list that is being read. */
type Frame = {
  place: number
  isObject: boolean
  /** What is hidden in its fields, or in its elements. */
  tree: FieldTree | undefined
  /** The place after its bracket. */
  open: number
  /** The place after the last field that is dealt with. */
  end: number
  /** Whether a field stays before that place. */
  hasKept: boolean
  /** Whether what is before the next field was given up: it cannot be removed any more. */
  isLate: boolean
  /** The field that is being read, whether its name has come, and whether its value has begun. */
  name: string
  isNamed: boolean
  hasValue: boolean
  /** Of that field. */
  way: typeof KEEP | typeof REMOVE | typeof REPLACE
  isScalarOnly: boolean
  inner: FieldTree | undefined
  valueStart: number
  replacement: string
}

function newFrame(): Frame {
  return {
    place: TOP,
    isObject: false,
    tree: undefined,
    open: 0,
    end: 0,
    hasKept: false,
    isLate: false,
    name: '',
    isNamed: false,
    hasValue: false,
    way: KEEP,
    isScalarOnly: false,
    inner: undefined,
    valueStart: 0,
    replacement: '',
  }
}

/** No real reply is deeper. What is deeper stays as it is. */
const DEPTH_MAX = 64

/** Longer than any usage that is read. */
export const USAGE_MAX = 64 * 1024

/** More white space than is held back before a field that may have to go. */
const HELD_MAX = 1024 * 1024

type Options = {
  readonly hidden?: FieldTree | undefined
  /** Replaces each top-level `model`. */
  readonly modelJson?: string | undefined
  /** The top-level list of what was asked for. */
  readonly list?: string | undefined
  /** Whether a reply without a model gets one, after its last field. */
  readonly addsModel?: boolean | undefined
  /** For a reply whose beginning is sent before its end has come: the cost to show in a usage, by what was read so far. */
  readonly costOf?: ((read: ReplyScan) => Microcredits | undefined) | undefined
}

/**
 * Reads one JSON reply piece by piece, one character for each byte or decoded, and finds what the gateway changes in it: each top-level
 * `model` becomes the public one, hidden fields go with their comma, and the cost is added to each top-level `usage`. Everything is in
 * one list of edits, in the order of the text.
 */
export class ReplyScan {
  readonly edits: Edit[] = []
  /** The last top-level `usage` as JSON; undefined for none, and for a longer one than is read. */
  usage: string | undefined
  /** Objects that have begun in the list. */
  entries = 0
  /** Whether the last top-level `error` says anything: it is not null. */
  hasError = false
  /** The first character of the value of the list; undefined without one. */
  listCode: number | undefined
  protected readonly scanner = new PieceScanner()
  readonly #hidden: FieldTree | undefined
  readonly #modelJson: string | undefined
  readonly #list: string | undefined
  readonly #costOf: Options['costOf']
  #lacksModel: boolean
  readonly #frames: Frame[] = []
  /** Frames in use. */
  #level = 0
  #rootCode: number | undefined

  constructor({ hidden, modelJson, list, addsModel = false, costOf }: Options) {
    this.#lacksModel = addsModel
    this.#costOf = costOf
    this.#hidden = hidden
    this.#modelJson = modelJson
    this.#list = list
  }

  /** Whether an object has begun; undefined before anything has. */
  get isObject(): boolean | undefined {
    return this.#rootCode === undefined ? undefined : this.#rootCode === OPEN_BRACE
  }

  /** Whether exactly one JSON value has come, as far as parsers can tell. A byte order mark may be before it. */
  get isValid(): boolean {
    return this.scanner.isValid && this.scanner.isOver
  }

  /** Whether the value has ended. */
  get isOver(): boolean {
    return this.scanner.isOver
  }

  /** Characters of a byte order mark before the value. */
  get markLength(): number {
    return this.scanner.markLength
  }

  push(text: string): this {
    const { scanner } = this
    scanner.push(text)
    for (let token = scanner.next(); token !== MORE; token = scanner.next()) {
      if (token === NAME) {
        this.#name(scanner.name)
      } else if (token === OPEN) {
        this.#open()
      } else {
        this.#endValue(token)
      }
    }
    return this
  }

  /**
   * For a reply whose beginning is sent before its end has come: no edit that comes later changes anything before this place. What is
   * being removed is cut as far as it has come.
   */
  settle(): number {
    const frame = this.#frames[this.#level - 1]
    const { length, isInToken, start } = this.scanner
    if (frame === undefined || !frame.isObject || (frame.isNamed && frame.way === KEEP)) {
      return length
    }
    if (!frame.isNamed) {
      if (length - frame.end > HELD_MAX) {
        this.#giveUp(frame, length)
      }
      return frame.end
    }
    if (isInToken && !frame.hasValue) {
      frame.hasValue = true
      frame.valueStart = start
    }
    if (frame.way === REMOVE) {
      this.#edit(frame.end, length)
      frame.end = length
    } else if (frame.hasValue) {
      this.#edit(frame.valueStart, length, frame.replacement)
      frame.valueStart = length
      frame.replacement = ''
    }
    return length
  }

  /**
   * A value begins in the top-level object, in the list, in an entry or in a value that is looked at.
   * @returns the place of what is in it: `TOP` for an object that has the model, the usage and the list of the reply.
   */
  protected begin(_place: number, _name: string, _code: number): number {
    return ELSEWHERE
  }

  /** The value has ended. @param isEmpty null, or a string, list or object with nothing in it. */
  protected ended(_place: number, _name: string, _isEmpty: boolean): void {}

  #edit(start: number, end: number, replacement = ''): void {
    this.edits.push({ start, end, replacement })
  }

  #name(name: string): void {
    const frame = this.#frames[this.#level - 1]
    if (frame === undefined) {
      return
    }
    const hidden = frame.tree?.get(name)
    frame.name = name
    frame.isNamed = true
    frame.hasValue = false
    frame.inner = typeof hidden === 'object' ? hidden : undefined
    frame.isScalarOnly = hidden === 'unless scalar'
    frame.way = KEEP
    if (hidden === 'whole') {
      frame.way = frame.isLate ? REPLACE : REMOVE
      frame.replacement = 'null'
    } else if (name === 'model' && frame.place === TOP && frame.isObject && this.#modelJson !== undefined) {
      frame.way = REPLACE
      frame.replacement = this.#modelJson
      this.#lacksModel = false
    }
    if (frame.way !== REMOVE) {
      this.#cutComma(frame)
      frame.hasKept = true
    }
  }

  /** The first field that stays loses its comma if only removed fields are before it. */
  #cutComma(frame: Frame): void {
    if (!frame.hasKept && frame.end !== frame.open && this.scanner.fieldStart > frame.end) {
      this.#edit(frame.end, this.scanner.fieldStart)
    }
  }

  #giveUp(frame: Frame, length: number): void {
    this.#cutComma(frame)
    frame.hasKept ||= frame.end !== frame.open && this.scanner.fieldStart > frame.end
    frame.end = length
    frame.isLate = true
  }

  #open(): void {
    const { scanner } = this
    const parent = this.#frames[this.#level - 1]
    const { code } = scanner
    if (parent === undefined) {
      this.#rootCode ??= code
      this.#enter(TOP, this.#hidden)
      return
    }
    const place = this.#beginValue(parent)
    if (parent.isObject && parent.isScalarOnly && parent.way === KEEP) {
      parent.way = REPLACE
      parent.replacement = 'null'
    }
    const isKept = !parent.isObject || parent.way === KEEP
    const inner = parent.isObject ? parent.inner : parent.tree
    const tree = !isKept || this.#level > DEPTH_MAX ? undefined : code === OPEN_BRACE ? inner : inner?.inList
    if (place === UNREAD || (tree === undefined && (place === ELSEWHERE || this.#level > DEPTH_MAX))) {
      scanner.skip()
    } else {
      this.#enter(place, tree)
    }
  }

  #beginValue(parent: Frame): number {
    const { code, start } = this.scanner
    if (!parent.hasValue) {
      parent.hasValue = true
      parent.valueStart = start
    }
    const { place, name } = parent
    if (place === TOP && parent.isObject) {
      if (name === 'usage') {
        this.scanner.capture(USAGE_MAX)
      } else if (name === this.#list) {
        this.listCode = code
        this.entries = 0
        this.begin(place, name, code)
        return LIST
      }
    } else if (place === LIST) {
      this.entries += code === OPEN_BRACE && !parent.isObject ? 1 : 0
    }
    return place === ELSEWHERE ? ELSEWHERE : this.begin(place, name, code)
  }

  #enter(place: number, tree: FieldTree | undefined): void {
    const { code, end } = this.scanner
    const isObject = code === OPEN_BRACE
    let frame = this.#frames[this.#level]
    if (frame === undefined) {
      frame = newFrame()
      this.#frames.push(frame)
    }
    this.#level += 1
    frame.place = place
    frame.isObject = isObject
    frame.tree = this.#level === 1 && !isObject ? tree?.inList : tree
    frame.open = end
    frame.end = end
    frame.hasKept = false
    frame.isLate = false
    frame.name = ''
    frame.isNamed = false
    frame.hasValue = false
  }

  /** A scalar, or the end of an object or list. */
  #endValue(token: typeof SCALAR | typeof CLOSE): void {
    const { scanner } = this
    const { end } = scanner
    if (token === CLOSE && scanner.depth < this.#level) {
      this.#level -= 1
    }
    const frame = this.#frames[this.#level - 1]
    if (frame === undefined) {
      this.#rootCode ??= scanner.code
      this.#endRoot()
      return
    }
    if (token === SCALAR) {
      this.#beginValue(frame)
    }
    const { place, name } = frame
    if (place === TOP && frame.isObject) {
      this.#endField(frame, token)
    }
    if (place !== ELSEWHERE) {
      this.ended(place, name, token === CLOSE ? scanner.isEmpty : isEmptyScalar(scanner))
    }
    if (frame.isObject) {
      this.#dispose(frame, end)
    }
  }

  #endRoot(): void {
    const root = this.#frames[0]
    if (this.#lacksModel && this.#modelJson !== undefined && root?.isObject === true) {
      this.#edit(root.end, root.end, `${root.hasKept ? ',' : ''}"model":${this.#modelJson}`)
    }
  }

  #dispose(frame: Frame, end: number): void {
    if (frame.way === REMOVE) {
      this.#edit(frame.end, end)
    } else if (frame.way === REPLACE && this.scanner.text !== frame.replacement) {
      this.#edit(frame.valueStart, end, frame.replacement)
    }
    frame.end = end
    frame.isNamed = false
    frame.isLate = false
  }

  #endField(frame: Frame, token: typeof SCALAR | typeof CLOSE): void {
    const { scanner } = this
    const { name } = frame
    if (name === 'usage') {
      this.usage = scanner.endCapture()
      if (token === CLOSE && scanner.code === CLOSE_BRACE) {
        this.#addCost(frame)
      }
    } else if (name === 'error') {
      this.hasError = token === CLOSE || scanner.text !== 'null'
    }
  }

  /** The cost goes after the last field of the usage that has just ended. */
  #addCost(parent: Frame): void {
    const usage = this.#frames[this.#level]
    if (usage?.isObject !== true || parent.way !== KEEP || parent.inner === undefined) {
      return
    }
    const { end } = usage
    const edit: Edit = { start: end, end, replacement: '', cost: usage.hasKept ? 'after a comma' : 'first' }
    const edits = this.#costOf === undefined ? [edit] : editsWithCost([edit], this.#costOf(this))
    this.edits.push(...edits)
  }
}

function isEmptyScalar(scanner: JsonScanner): boolean {
  return scanner.code === QUOTE ? scanner.end - scanner.start === 2 : scanner.code === 0x6e && scanner.text === 'null'
}

/** A JSON object or list without the fields of a tree. Any other text stays as it is. */
export function withoutHidden(json: string, hidden: FieldTree): string {
  return applyEdits(json, new ReplyScan({ hidden }).push(json).edits)
}

/** Whether a list begins with this character. */
export function isList(code: number | undefined): boolean {
  return code === OPEN_BRACKET
}
