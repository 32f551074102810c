/** Requests kept for tests to look at. */
const ENTRIES_MAX = 1000

/** Inline images are large: old requests leave when all together weigh more. */
const TOTAL_BYTES_MAX = 128 * 1024 * 1024

/** The newest requests, bounded in number and in size. */
export class RequestLog<Entry> {
  readonly #entries: Entry[] = []
  readonly #sizesBytes: number[] = []
  #totalBytes = 0

  /** Oldest first; the same array all the time. */
  get entries(): readonly Entry[] {
    return this.#entries
  }

  add(entry: Entry, sizeBytes: number): void {
    this.#entries.push(entry)
    this.#sizesBytes.push(sizeBytes)
    this.#totalBytes += sizeBytes
    while (this.#entries.length > ENTRIES_MAX || (this.#totalBytes > TOTAL_BYTES_MAX && this.#entries.length > 1)) {
      this.#entries.shift()
      this.#totalBytes -= this.#sizesBytes.shift() ?? 0
    }
  }
}
