import { parsedOrUndefined } from '../json/parse-json-text.ts'
import type { Microcredits } from '../money.ts'
import { latin1Of, ReplyPieces, type ReplyRules, ReplyScan } from './reply-scan.ts'

/** What is read from a large reply, and changed in it. */
export type StreamedJsonForm = ReplyRules & {
  /** The top-level list of what was asked for. */
  readonly list: string
  /** The cost to show in a usage, by what was read so far; left out where nothing of the reply is shown. */
  readonly costOf?: (read: { readonly usage: unknown; readonly entries: number }) => Microcredits | undefined
}

/**
 * A JSON reply that is relayed while it arrives, because it is too large to be held whole. It is changed as any other reply, and what the
 * bill needs is read on the way; only a field after a megabyte of white space becomes null where it would be removed. It holds little more
 * than a megabyte however large the reply is, and refuses nothing: bytes that were sent cannot be taken back.
 */
export class StreamedJsonReply {
  readonly #scan: ReplyScan
  readonly #pieces = new ReplyPieces()
  #sentTo = 0

  constructor({ publicModel, hidden, list, costOf }: StreamedJsonForm) {
    this.#scan = new ReplyScan({
      hidden,
      modelJson: JSON.stringify(publicModel),
      list,
      costOf: ({ usage, entries }) => costOf?.({ usage: parsedOrUndefined(usage), entries }),
    })
  }

  /** Whether a whole JSON object has arrived. */
  get isComplete(): boolean {
    return this.#scan.isObject === true && this.#scan.isOver
  }

  /** The value of the last `usage`; undefined for none, or none that is JSON. */
  get usage(): unknown {
    return parsedOrUndefined(this.#scan.usage)
  }

  /** Objects that have begun in the list. */
  get entries(): number {
    return this.#scan.entries
  }

  /** The bytes to relay for these bytes, mostly as views of them. */
  push(bytes: Uint8Array): Uint8Array[] {
    const scan = this.#scan
    this.#pieces.add(bytes)
    scan.push(latin1Of(bytes))
    const end = scan.settle()
    const pieces = this.#pieces.edited(this.#sentTo, end, scan.edits)
    scan.edits.length = 0
    this.#sentTo = end
    this.#pieces.forget(end)
    return pieces
  }
}
