/** No name that is looked for, and no usage, is longer. */
const BYTES_MAX = 16 * 1024

/** The bytes of one JSON value, kept while they come, up to a bound. */
export class CapturedJson {
  readonly #bytes: number[] = []

  push(byte: number): void {
    if (this.#bytes.length <= BYTES_MAX) {
      this.#bytes.push(byte)
    }
  }

  /** Undefined for what is no JSON, or was too long to be kept whole. */
  value(): unknown {
    try {
      return JSON.parse(new TextDecoder().decode(Uint8Array.from(this.#bytes)))
    } catch {
      return undefined
    }
  }
}
