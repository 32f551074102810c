import type { FieldTree } from '../json/field-tree.ts'
import { COMMA, OPEN_BRACE, OPEN_BRACKET } from '../json/json-marks.ts'
import type { Microcredits } from '../money.ts'
import { byteEdit, byteRemovalEdits } from './byte-edits.ts'
import { costAddition } from './cost-field.ts'
import type { ReplyRules } from './reply-members.ts'
import { applyEdits } from './reply-pieces.ts'
import { type ReplyPart, TopLevelScan } from './top-level-scan.ts'

/** What is read from a large reply, and changed in it. */
export type PassingForm = ReplyRules & {
  /** The top-level list of what was asked for. */
  readonly list: 'choices' | 'data'
  /** The cost to show in a usage, by what was read so far; left out where nothing of the reply is shown. */
  readonly costOf?: (read: { readonly usage: unknown; readonly entries: number }) => Microcredits | undefined
}

/** Far more than the name or the usage of any reply. */
const HELD_BYTES_MAX = 1024 * 1024

/** Stands for a value that cannot be shown, because what is hidden in it was not found in time. */
const NULL = new TextEncoder().encode('null')

/**
 * A JSON reply that is relayed while it arrives, because it is too large to be held whole. Every top-level `model` gets the
 * public id, wherever it stands, and what is hidden is left out; all other bytes stay as they are, and what the bill needs is read
 * on the way. It holds a megabyte at most however large the reply is, and checks no value: bytes that were sent cannot be taken back.
 */
export class PassingReply {
  readonly #form: PassingForm
  readonly #model: Uint8Array
  readonly #scan: TopLevelScan
  #part: ReplyPart = 'outside'
  /** Whether the bytes of this part are relayed, dropped or buffered. */
  #way: 'pass' | 'drop' | 'hold' = 'pass'
  #held: Uint8Array[] = []
  #heldBytes = 0
  #inner: FieldTree | undefined
  /** Whether the way is that of a watched value inside of one that passes. */
  #isWatching = false
  #hasKept = false
  #hasRemoved = false
  #pieces: Uint8Array[] = []

  constructor(form: PassingForm) {
    this.#form = form
    this.#model = new TextEncoder().encode(JSON.stringify(form.publicModel))
    const anywhere = form.hidden.inList
    this.#scan = new TopLevelScan(form.list, (name) => anywhere !== undefined && isHeld(anywhere.get(name)))
  }

  /** Whether a whole JSON object has arrived. */
  get isComplete(): boolean {
    return this.#scan.isComplete
  }

  /** The value of the last `usage`; undefined for none, or none that is JSON. */
  get usage(): unknown {
    return this.#scan.usage
  }

  /** Objects that have begun in the list. */
  get entries(): number {
    return this.#scan.entries
  }

  /** The bytes to relay for these bytes, mostly as views of them. */
  push(bytes: Uint8Array): Uint8Array[] {
    this.#pieces = []
    const scan = this.#scan
    let from = 0
    for (let at = scan.skip(bytes, 0); at < bytes.length; at = scan.skip(bytes, at + 1)) {
      const byte = bytes[at] ?? 0
      scan.step(byte)
      const { part } = scan
      if (part !== this.#part) {
        this.#take(bytes.subarray(from, at))
        from = at
        this.#enter(part, byte)
      }
    }
    this.#take(bytes.subarray(from))
    return this.#pieces.filter((piece) => piece.length > 0)
  }

  #take(bytes: Uint8Array): void {
    if (this.#way === 'hold') {
      this.#held.push(bytes)
      this.#heldBytes += bytes.length
      if (this.#heldBytes > HELD_BYTES_MAX) {
        this.#giveUpHolding()
      }
    } else if (this.#way === 'pass') {
      this.#pieces.push(bytes)
    }
  }

  /** An object with hidden fields is not shown at all, and white space that long passes. */
  #giveUpHolding(): void {
    const held = this.#release()
    if (this.#part !== 'between') {
      this.#pieces.push(NULL)
      this.#way = 'drop'
    } else {
      this.#send(this.#withNeededComma(held))
      this.#way = 'pass'
    }
  }

  /** Held pieces may be single bytes, and a million arguments are too many for a call. */
  #send(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) {
      this.#pieces.push(piece)
    }
  }

  #release(): Uint8Array[] {
    const held = this.#held
    this.#held = []
    this.#heldBytes = 0
    return held
  }

  /** @param byte the first byte of the part. */
  #enter(part: ReplyPart, byte: number): void {
    const from = this.#part
    this.#part = part
    if (part === 'watched') {
      this.#beginWatched()
      return
    }
    if (from === 'watched' && this.#isWatching) {
      this.#isWatching = false
      this.#endValue()
      this.#way = 'pass'
    }
    if (from === 'value') {
      this.#endValue()
    }
    if (part === 'value') {
      if (from !== 'watched') {
        this.#beginValue(byte)
      }
    } else {
      this.#send(this.#release())
      this.#way = part === 'between' ? 'hold' : 'pass'
    }
  }

  /** In a value that passes, an object or list that is hidden becomes null, and one with hidden fields is held until its end. */
  #beginWatched(): void {
    if (this.#way !== 'pass') {
      return
    }
    this.#isWatching = true
    const hidden = this.#form.hidden.inList?.get(this.#scan.watchedName)
    if (hidden === 'whole') {
      this.#pieces.push(NULL)
      this.#way = 'drop'
    } else {
      this.#inner = hidden
      this.#way = 'hold'
    }
  }

  /** The comma and the name before the value are held, unless they are longer than any. */
  #beginValue(byte: number): void {
    const name = String(this.#scan.name)
    const hidden = this.#form.hidden.get(name)
    if (hidden === 'whole' && this.#way === 'hold') {
      this.#release()
      this.#hasRemoved = true
      this.#way = 'drop'
      return
    }
    this.#send(this.#withNeededComma(this.#release()))
    this.#hasKept = true
    if (hidden === 'whole' || name === 'model') {
      this.#pieces.push(hidden === 'whole' ? NULL : this.#model)
      this.#way = 'drop'
    } else {
      const isNested = byte === OPEN_BRACE || (byte === OPEN_BRACKET && hidden?.inList !== undefined)
      this.#inner = isNested && isHeld(hidden) ? hidden : undefined
      this.#way = this.#inner === undefined ? 'pass' : 'hold'
    }
  }

  /** Where only removed fields were before, the comma goes, and the white space before it. */
  #withNeededComma(before: readonly Uint8Array[]): readonly Uint8Array[] {
    if (!this.#hasRemoved || this.#hasKept) {
      return before
    }
    const bytes = joined(before)
    return [bytes.subarray(bytes.indexOf(COMMA) + 1)]
  }

  /** An object with hidden fields is held until its end, unless it is longer than any. */
  #endValue(): void {
    if (this.#way !== 'hold' || this.#inner === undefined) {
      return
    }
    const { usage, entries, name } = this.#scan
    const bytes = joined(this.#release())
    const { edits, additionPlace } = byteRemovalEdits(bytes, { start: 0, end: bytes.length }, this.#inner)
    const cost = name === 'usage' && bytes[0] === OPEN_BRACE ? this.#form.costOf?.({ usage, entries }) : undefined
    const all = cost === undefined ? edits : [...edits, costAddition(additionPlace, cost)]
    this.#send(applyEdits(bytes, all.map(byteEdit)).pieces)
  }
}

/** Whether a value may have hidden fields of its own, and not only deeper inside. */
function isHeld(hidden: FieldTree | 'whole' | undefined): hidden is FieldTree | 'whole' {
  return hidden === 'whole' || (hidden !== undefined && hidden.signs === undefined)
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)
}
