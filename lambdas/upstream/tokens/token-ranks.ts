import { parseJsonObject } from '#core/json/parse-json-text.ts'

/** What `cl100k_base.json` holds: every token in the order of its rank, written so that it loads fast. */
export type TokenRanksFile = {
  readonly encoding: 'cl100k_base'
  /** The bytes of all tokens, one after the other, in base64. */
  readonly bytes: string
  /** The length of each token in bytes, one byte for each, in base64. */
  readonly lengths: string
}

/** What should hold the vocabulary is empty, cut or something else: texts counted by it would be billed wrongly. */
export class BrokenTokenRanksError extends Error {
  override readonly name = 'BrokenTokenRanksError'
}

/** Tokens of cl100k_base. */
const TOKENS = 100_256

/** Reads what `TokenRanksFile` was written as. @throws BrokenTokenRanksError unless all of it is there. */
export function parseTokenRanks(text: string): TokenRanksFile {
  const { encoding, bytes, lengths } = parseJsonObject(text) ?? {}
  if (encoding !== 'cl100k_base' || typeof bytes !== 'string' || typeof lengths !== 'string') {
    throw new BrokenTokenRanksError('the file of the tokenizer is empty or cut: deploy, or start the host, again')
  }
  const each = Buffer.from(lengths, 'base64')
  const sum = each.reduce((total, length) => total + length, 0)
  if (each.length !== TOKENS || sum !== Buffer.byteLength(bytes, 'base64')) {
    throw new BrokenTokenRanksError('the file of the tokenizer lacks tokens: deploy, or start the host, again')
  }
  return { encoding, bytes, lengths }
}

/** The rank of a token: the lower, the earlier two neighbours are merged into it. */
export type RankLookup = {
  /** Rank of the token whose bytes are `bytes[start]` up to, not including, `bytes[end]`; -1 when there is none. */
  rankOf(bytes: Uint8Array, start: number, end: number): number
}

/** At least twice as many slots as tokens keep the probes short; a power of two. */
function slotsFor(tokens: number): number {
  return 2 ** Math.ceil(Math.log2(tokens * 2))
}

/** FNV-1a, 32 bits. */
const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

const { imul } = Math

function hash(bytes: Uint8Array, start: number, end: number): number {
  let value = FNV_OFFSET
  for (let index = start; index < end; index += 1) {
    value = imul(value ^ (bytes[index] ?? 0), FNV_PRIME)
  }
  return value ^ (value >>> 15)
}

/**
 * The vocabulary as one open hash table over its bytes: two megabytes, a third of what a map of a hundred thousand texts
 * takes, and no text has to be made to look one up.
 */
export class TokenRanks implements RankLookup {
  readonly #bytes: Uint8Array
  /** Where each token begins; one entry more than there are tokens. */
  readonly #starts: Int32Array
  /** Rank plus one; 0 is a free slot. */
  readonly #slots: Int32Array

  constructor(file: TokenRanksFile) {
    this.#bytes = Buffer.from(file.bytes, 'base64')
    const lengths = Buffer.from(file.lengths, 'base64')
    this.#starts = new Int32Array(lengths.length + 1)
    this.#slots = new Int32Array(slotsFor(lengths.length))
    let start = 0
    for (const [rank, length] of lengths.entries()) {
      this.#slots[this.#slotOf(this.#bytes, start, start + length)] = rank + 1
      start += length
      this.#starts[rank + 1] = start
    }
  }

  rankOf(bytes: Uint8Array, start: number, end: number): number {
    return (this.#slots[this.#slotOf(bytes, start, end)] ?? 0) - 1
  }

  /** The slot that holds these bytes, else the free one where they would go. */
  #slotOf(bytes: Uint8Array, start: number, end: number): number {
    const mask = this.#slots.length - 1
    let slot = hash(bytes, start, end) & mask
    for (;;) {
      const rank = (this.#slots[slot] ?? 0) - 1
      if (rank === -1 || this.#isToken(rank, bytes, start, end)) {
        return slot
      }
      slot = (slot + 1) & mask
    }
  }

  #isToken(rank: number, bytes: Uint8Array, start: number, end: number): boolean {
    const tokenStart = this.#starts[rank] ?? 0
    if ((this.#starts[rank + 1] ?? 0) - tokenStart !== end - start) {
      return false
    }
    for (let index = start; index < end; index += 1) {
      if (bytes[index] !== this.#bytes[tokenStart + index - start]) {
        return false
      }
    }
    return true
  }
}
