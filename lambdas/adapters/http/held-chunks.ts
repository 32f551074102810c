/** Chunks that wait for their reader. Many small ones reach the reader as one, because each read costs more than their copy. */
export class HeldChunks {
  readonly #chunks: Buffer[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }

  /** All bytes, which stay; empty for none. */
  peek(): Buffer {
    const [only] = this.#chunks
    return only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks, this.#bytes)
  }

  /** All bytes, which leave; undefined for none. */
  take(): Buffer | undefined {
    const taken = this.#chunks.length === 0 ? undefined : this.peek()
    this.clear()
    return taken
  }

  clear(): void {
    this.#chunks.length = 0
    this.#bytes = 0
  }
}
