import { countMerged } from './byte-pair-merge.ts'
import type { RankLookup } from './token-ranks.ts'

/**
 * Cuts a text into the pieces that merges never cross: `pat_str` of cl100k_base, character for character. Linear: no
 * branch gives back more than one character that another one takes again, except white space, once a run.
 */
const PIECES =
  /('s|'S|'t|'T|'re|'rE|'Re|'RE|'ve|'vE|'Ve|'VE|'m|'M|'ll|'lL|'Ll|'LL|'d|'D)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu

/** UTF-8 bytes of one UTF-16 unit at most. */
const BYTES_PER_UNIT_MAX = 3

/** Bytes of pieces that are counted in a millisecond or two; inside of a long piece the merging yields by itself. */
const BYTES_A_STEP = 16_384

/**
 * Counts the tokens of a text in cl100k_base, exactly up to a limit. Names of special tokens are ordinary text, as they
 * are for an upstream that embeds them. It yields after each few milliseconds of work, for somebody else to have a turn.
 * @returns the count, or, once it is above the limit, some number above the limit.
 */
export function* countTokens(text: string, ranks: RankLookup, limit: number): Generator<void, number> {
  const encoder = new TextEncoder()
  let bytes = new Uint8Array(256)
  let count = 0
  let stepBytes = 0
  for (const [piece] of text.matchAll(PIECES)) {
    if (bytes.length < piece.length * BYTES_PER_UNIT_MAX) {
      bytes = new Uint8Array(piece.length * BYTES_PER_UNIT_MAX)
    }
    const { written } = encoder.encodeInto(piece, bytes)
    count += ranks.rankOf(bytes, 0, written) >= 0 ? 1 : yield* countMerged(bytes, written, ranks)
    if (count > limit) {
      break
    }
    stepBytes += written
    if (stepBytes > BYTES_A_STEP) {
      stepBytes = 0
      yield
    }
  }
  return count
}
