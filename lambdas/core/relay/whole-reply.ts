import type { Microcredits } from '../money.ts'
import { editsWithCost, latin1Of, ReplyPieces, type ReplyScan } from './reply-scan.ts'

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
