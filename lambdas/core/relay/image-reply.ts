import { OPEN_BRACE, QUOTE } from '../json/json-scanner.ts'
import type { Microcredits } from '../money.ts'
import {
  ELSEWHERE,
  ENTRY,
  editsWithCost,
  isList,
  LIST,
  latin1Of,
  ReplyPieces,
  type ReplyRules,
  ReplyScan,
  TOP,
} from './reply-scan.ts'

/** How an upstream's 2xx reply to an image request is used. */
export type ImageReply =
  | {
      readonly kind: 'reply'
      /** Images in `data`, at least one. */
      readonly images: number
      /** What the client gets. @param cost shown in a usage; undefined for none. */
      readonly relayed: (cost: Microcredits | undefined) => readonly Uint8Array[]
    }
  /** No image, or an entry that is not one: a failure of the upstream. `reason` is for the log and holds nothing of the reply. */
  | { readonly kind: 'unusable'; readonly reason: string }

/**
 * Reads an image reply piece by piece, without copying its megabytes of base64. An image response has no `model`
 * (docs/api.md, "Images"); if an upstream adds one at the top level, it is replaced by the public id. What is hidden is removed.
 */
export class ImageReplyReader {
  readonly #scan: ImageScan
  readonly #pieces = new ReplyPieces()

  constructor({ publicModel, hidden }: ReplyRules) {
    this.#scan = new ImageScan({ hidden, modelJson: JSON.stringify(publicModel), list: 'data' })
  }

  push(bytes: Uint8Array): void {
    this.#pieces.add(bytes)
    this.#scan.push(latin1Of(bytes))
  }

  end(): ImageReply {
    const { images, hasOther, isValid, isObject, markLength, edits } = this.#scan
    const pieces = this.#pieces
    if (!isValid || isObject !== true || markLength > 0) {
      return { kind: 'unusable', reason: 'the reply is not a JSON object' }
    }
    if (hasOther) {
      return { kind: 'unusable', reason: 'an entry has neither url nor b64_json' }
    }
    return images === 0
      ? { kind: 'unusable', reason: 'the reply has no image' }
      : { kind: 'reply', images, relayed: (cost) => pieces.edited(0, pieces.length, editsWithCost(edits, cost)) }
  }
}

class ImageScan extends ReplyScan {
  images = 0
  /** Whether an entry is neither an image nor the report of an error, beside other images. */
  hasOther = false
  #isImage = false
  #isError = false

  protected override begin(place: number, name: string, code: number): number {
    if (place === TOP && name === 'data') {
      this.images = 0
    } else if (place === LIST && isList(this.listCode)) {
      this.#isImage = false
      this.#isError = false
      return code === OPEN_BRACE ? ENTRY : ELSEWHERE
    }
    return ELSEWHERE
  }

  protected override ended(place: number, name: string, isEmpty: boolean): void {
    if (place === ENTRY) {
      const { code, text } = this.scanner
      this.#isImage ||= (name === 'url' || name === 'b64_json') && code === QUOTE && !isEmpty
      this.#isError ||= name === 'error' && text !== 'null'
    } else if (place === LIST && isList(this.listCode)) {
      this.images += this.#isImage ? 1 : 0
      this.hasOther ||= !(this.#isImage || this.#isError)
    }
  }
}
