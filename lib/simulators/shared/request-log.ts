/** Most kept requests. */
const ENTRIES_MAX = 1000

/** Most bytes of all kept requests together, because inline images are large. */
const TOTAL_BYTES_MAX = 128 * 1024 * 1024

/** The newest requests, bounded in number and in size. */
export class RequestLog<Entry> {
  readonly #entries: Entry[] = []
  readonly #sizesBytes: number[] = []
  #totalBytes = 0

  /** Oldest first; always the same array. */
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
