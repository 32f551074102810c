import { maySomewhereHave } from '../json/field-tree.ts'
import { COMMA, OPEN_BRACE, OPEN_BRACKET } from '../json/json-marks.ts'
import { type AdditionPlace, FieldRemoval } from '../json/remove-fields.ts'
import type { Microcredits } from '../money.ts'
import { byteEdit, byteRemovalEdits } from './byte-edits.ts'
import { costAddition } from './cost-field.ts'
import type { ReplyRules } from './reply-members.ts'
import type { Edit } from './reply-pieces.ts'

const encoder = new TextEncoder()

/** Follows the top-level fields of a reply that is read as bytes, and collects what the gateway changes in them. */
export class TopLevelEdits {
  readonly #bytes: Uint8Array
  readonly #rules: ReplyRules
  readonly #removal: FieldRemoval
  readonly #model: Uint8Array
  readonly #models: Edit[] = []
  readonly #usages: AdditionPlace[] = []

  constructor(bytes: Uint8Array, rules: ReplyRules) {
    this.#bytes = bytes
    this.#rules = rules
    this.#removal = new FieldRemoval(bytes.indexOf(OPEN_BRACE) + 1, (index) => bytes.indexOf(COMMA, index))
    this.#model = encoder.encode(JSON.stringify(rules.publicModel))
  }

  /** A field, with the span of its value. To be called for each field in its order. */
  field(name: string, start: number, end: number): void {
    const { hidden: all } = this.#rules
    const hidden = all.get(name)
    const first = this.#bytes[start]
    if (hidden === 'whole') {
      this.#removal.remove(end)
      return
    }
    this.#removal.keep(end)
    if (name === 'model') {
      this.#models.push({ start, end, replacement: [this.#model] })
    } else if (
      hidden !== undefined &&
      (first === OPEN_BRACE || first === OPEN_BRACKET) &&
      maySomewhereHave(hidden, asBuffer(this.#bytes, start, end))
    ) {
      const { edits, additionPlace } = byteRemovalEdits(this.#bytes, { start, end }, hidden)
      this.#removal.add(edits)
      if (name === 'usage' && first === OPEN_BRACE) {
        this.#usages.push(additionPlace)
      }
    }
  }

  /** A list whose elements the caller changes itself. */
  listOfCaller(end: number): void {
    this.#removal.keep(end)
  }

  /** Adds the public model to a reply without any. To be called after the last field, at least one of which stays. */
  addMissingModel(): void {
    if (this.#models.length === 0) {
      const { index } = this.#removal.additionPlace
      this.#models.push({ start: index, end: index, replacement: [encoder.encode(',"model":'), this.#model] })
    }
  }

  /** All changes. @param cost shown in each usage; undefined for none. */
  edits(cost: Microcredits | undefined): readonly Edit[] {
    const additions = cost === undefined ? [] : this.#usages.map((place) => costAddition(place, cost))
    const texts = [...this.#removal.edits, ...additions]
    return [...this.#models, ...texts.map(byteEdit)]
  }
}

/** A view, whose search is as fast as memory. */
function asBuffer({ buffer, byteOffset }: Uint8Array, start: number, end: number): Buffer {
  return Buffer.from(buffer, byteOffset + start, end - start)
}
