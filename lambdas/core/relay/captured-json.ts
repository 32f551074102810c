import { parseJsonText } from '../json/parse-json-text.ts'

/** More than any field name or usage that is read. */
const BYTES_MAX = 16 * 1024

/** The bytes of one JSON value, kept as they arrive, up to a bound. */
export class CapturedJson {
  readonly #bytes: number[] = []

  push(byte: number): void {
    if (this.#bytes.length <= BYTES_MAX) {
      this.#bytes.push(byte)
    }
  }

  /** Undefined for a value that is not JSON, or was too long to be kept whole. */
  value(): unknown {
    try {
      return parseJsonText(new TextDecoder().decode(Uint8Array.from(this.#bytes)))
    } catch {
      return undefined
    }
  }
}
