import type { RankLookup } from './token-ranks.ts'

/** Places are below this, ranks below 2^21: both fit into one double, which compares by rank, then by place. */
const PLACES = 2 ** 32

/** A binary heap of pairs, lowest rank first, leftmost among equals. */
export class PairQueue {
  readonly #keys: Float64Array
  #size = 0

  /** @param capacity pairs that it holds at most at a time. */
  constructor(capacity: number) {
    this.#keys = new Float64Array(capacity)
  }

  push(rank: number, at: number): void {
    const keys = this.#keys
    const key = rank * PLACES + at
    let index = this.#size
    this.#size += 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      const parentKey = keys[parent] ?? 0
      if (parentKey <= key) {
        break
      }
      keys[index] = parentKey
      index = parent
    }
    keys[index] = key
  }

  pop(): { readonly rank: number; readonly at: number } | undefined {
    if (this.#size === 0) {
      return undefined
    }
    const key = this.#keys[0] ?? 0
    this.#size -= 1
    this.#sink(this.#keys[this.#size] ?? 0)
    const rank = Math.floor(key / PLACES)
    return { rank, at: key - rank * PLACES }
  }

  /** Puts the key that stood last where the first one was taken. */
  #sink(key: number): void {
    const keys = this.#keys
    const size = this.#size
    let index = 0
    for (let child = 1; child < size; child = 2 * index + 1) {
      const right = child + 1
      if (right < size && (keys[right] ?? 0) < (keys[child] ?? 0)) {
        child = right
      }
      const childKey = keys[child] ?? 0
      if (childKey >= key) {
        break
      }
      keys[index] = childKey
      index = child
    }
    keys[index] = key
  }
}

/** Neighbours that make no token together. */
const NO_RANK = -1

/** Pairs that are looked up, or taken from the queue and merged, in a few milliseconds. */
const PAIRS_A_STEP = 4_096

/** The place behind the last part, and before the first. */
const NONE = -1

/** A pair of the queue whose parts have been merged with others since. */
const OUT_OF_DATE = -2

/**
 * Counts the tokens of one piece of text: of all neighbouring parts, beginning with single bytes, those two merge first
 * whose merged bytes have the lowest rank, the leftmost of equals, until no two make a token.
 *
 * The parts form a linked list and the pairs wait in a heap, so that a piece of n bytes takes n log n steps. A list that is
 * searched for each merge takes n^2: minutes for a megabyte of one letter, which anyone may send. It yields after each few
 * milliseconds of work, for somebody else to have a turn.
 * @param bytes the piece begins at its start; not to be changed before the count is there.
 * @param length of the piece in bytes, 1 or more.
 */
export function* countMerged(bytes: Uint8Array, length: number, ranks: RankLookup): Generator<void, number> {
  const parts = new Parts(bytes, length, ranks)
  for (let at = 0; at + 1 < length; at += 1) {
    parts.offer(at)
    if (at % PAIRS_A_STEP === PAIRS_A_STEP - 1) {
      yield
    }
  }
  let count = length
  let taken = 0
  for (let at = parts.takeLowest(); at !== NONE; at = parts.takeLowest()) {
    if (at !== OUT_OF_DATE) {
      parts.mergeWithNext(at)
      count -= 1
    }
    taken += 1
    if (taken % PAIRS_A_STEP === 0) {
      yield
    }
  }
  return count
}

/** The parts of a piece; each is known by its first byte. */
class Parts {
  readonly #bytes: Uint8Array
  readonly #length: number
  readonly #ranks: RankLookup
  readonly #next: Int32Array
  readonly #previous: Int32Array
  /** Rank of each part together with its next one. What the queue holds beside that is out of date. */
  readonly #pairRanks: Int32Array
  readonly #queue: PairQueue

  constructor(bytes: Uint8Array, length: number, ranks: RankLookup) {
    this.#bytes = bytes
    this.#length = length
    this.#ranks = ranks
    this.#next = new Int32Array(length)
    this.#previous = new Int32Array(length)
    for (let at = 0; at < length; at += 1) {
      this.#next[at] = at + 1
      this.#previous[at] = at - 1
    }
    this.#pairRanks = new Int32Array(length).fill(NO_RANK)
    // A merge takes one pair out and puts two in at most, and there are fewer merges than bytes.
    this.#queue = new PairQueue(2 * length)
  }

  /** Puts the pair that begins at a part into the queue, if it makes a token. */
  offer(at: number): void {
    const second = this.#next[at] ?? this.#length
    const end = second < this.#length ? (this.#next[second] ?? this.#length) : NONE
    const rank = end === NONE ? NO_RANK : this.#ranks.rankOf(this.#bytes, at, end)
    this.#pairRanks[at] = rank
    if (rank !== NO_RANK) {
      this.#queue.push(rank, at)
    }
  }

  /** The first part of the pair that merges next; OUT_OF_DATE where the queue held another, NONE when it is empty. */
  takeLowest(): number {
    const pair = this.#queue.pop()
    if (pair === undefined) {
      return NONE
    }
    return this.#pairRanks[pair.at] === pair.rank ? pair.at : OUT_OF_DATE
  }

  mergeWithNext(at: number): void {
    const merged = this.#next[at] ?? this.#length
    const next = this.#next[merged] ?? this.#length
    this.#next[at] = next
    this.#pairRanks[merged] = NO_RANK
    if (next < this.#length) {
      this.#previous[next] = at
    }
    this.offer(at)
    const previous = this.#previous[at] ?? NONE
    if (previous !== NONE) {
      this.offer(previous)
    }
  }
}

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
