import { parsedOrUndefined } from '../json/parse-json-text.ts'
import type { Microcredits } from '../money.ts'
import { type Edit, editsWithCost, type ReplyRules, ReplyScan } from './reply-scan.ts'

/** A reply of status 2xx that came whole. */
export type WholeReply<Usage> =
  | {
      readonly kind: 'reply'
      /** What the upstream reports; undefined for nothing that can be believed. */
      readonly usage: Usage | undefined
      /** What the client gets. @param cost shown in the usage; undefined for none. */
      relayed(cost: Microcredits | undefined): readonly Uint8Array[]
      /**
       * The same as the events of a stream, for a client that wants one of an upstream that does not stream; undefined for a reply that
       * cannot be sent as a stream. Left out where nothing is streamed.
       */
      events?(cost: Microcredits | undefined): string | undefined
    }
  /** The upstream reports an error of its own under a status of success, and nothing was generated. */
  | { readonly kind: 'error' }
  /** A failure of the upstream. `reason` is for the log and holds nothing of the reply. */
  | { readonly kind: 'unusable'; readonly reason: string }

/** Reads a whole reply piece by piece. */
export interface ReplyReader<Usage> {
  push(bytes: Uint8Array): void
  /** To be called after the last piece. */
  end(): WholeReply<Usage>
}

/** Reads a whole reply by one scan. Everything but the edits of the scan reaches the client as it came. */
export abstract class ScannedReply<Usage, Scan extends ReplyScan> implements ReplyReader<Usage> {
  protected readonly scan: Scan
  protected readonly pieces = new ReplyPieces()

  constructor(scan: Scan) {
    this.scan = scan
  }

  push(bytes: Uint8Array): void {
    this.pieces.add(bytes)
    this.scan.push(latin1Of(bytes))
  }

  abstract end(): WholeReply<Usage>

  /** The bytes for the client, mostly as views of those that came. */
  protected relayed(cost: Microcredits | undefined): readonly Uint8Array[] {
    return this.pieces.edited(this.scan.markLength, this.pieces.length, editsWithCost(this.scan.edits, cost))
  }
}

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

/**
 * The bytes of a reply, as they have arrived. What is written of it are views of them: a reply of sixty megabytes is not copied for its
 * model id.
 */
export class ReplyPieces {
  readonly #chunks: Uint8Array[] = []
  /** Where each chunk begins, and the end of the last one. */
  readonly #starts: number[] = [0]

  /** Bytes that have arrived. */
  get length(): number {
    return this.#starts.at(-1) ?? 0
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#starts.push(this.length + chunk.length)
  }

  /** Forgets bytes that nobody asks for again. */
  forget(end: number): void {
    let count = 0
    while (count < this.#chunks.length && (this.#starts[count + 1] ?? 0) <= end) {
      count += 1
    }
    this.#chunks.splice(0, count)
    this.#starts.splice(0, count)
  }

  /** The bytes of one span after its edits, which are in its order. */
  edited(start: number, end: number, edits: readonly Edit[]): Uint8Array[] {
    const pieces: Uint8Array[] = []
    let keptFrom = start
    for (const edit of edits) {
      this.#take(pieces, keptFrom, edit.start)
      if (edit.replacement !== '') {
        pieces.push(edit.bytes ?? Buffer.from(edit.replacement))
      }
      keptFrom = edit.end
    }
    this.#take(pieces, keptFrom, end)
    return pieces
  }

  #take(pieces: Uint8Array[], start: number, end: number): void {
    const starts = this.#starts
    for (let index = this.#indexOf(start); index < this.#chunks.length && (starts[index] ?? 0) < end; index += 1) {
      const from = starts[index] ?? 0
      const piece = this.#chunks[index]?.subarray(Math.max(0, start - from), end - from)
      if (piece !== undefined && piece.length > 0) {
        pieces.push(piece)
      }
    }
  }

  /** The chunk in which a place is. */
  #indexOf(place: number): number {
    let low = 0
    let high = this.#chunks.length
    while (low + 1 < high) {
      const middle = (low + high) >> 1
      if ((this.#starts[middle] ?? 0) <= place) {
        low = middle
      } else {
        high = middle
      }
    }
    return low
  }
}

/** One character for each byte. */
function latin1Of(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('latin1')
}
