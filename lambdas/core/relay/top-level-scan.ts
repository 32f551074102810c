import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  IS_STRUCTURE,
  isBeforeJson,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  WHITESPACE,
} from '../json/json-marks.ts'
import { CapturedJson } from './captured-json.ts'

/** Where a byte of a reply stands: before or after the object and its braces, between two values of it, or in a value. */
export type ReplyPart = 'outside' | 'between' | 'value'

/**
 * Reads a JSON reply byte by byte, and knows where in its object it is. Checks no value. Holds a name and a usage, however large
 * the reply is.
 */
export class TopLevelScan {
  readonly #list: string
  #begins: 'later' | 'as an object' | 'as something else' = 'later'
  #isOpening = false
  #depth = 0
  #isInString = false
  #isEscaped = false
  /** At the top level: what comes next, or what is being read. */
  #place: 'before name' | 'in name' | 'before value' | 'in value' = 'before name'
  #name: unknown
  /** Bytes of a name or of a usage, while they arrive. */
  #captured: CapturedJson | undefined
  #usage: unknown
  #isInList = false
  #entries = 0

  /** @param list name of the top-level list whose entries are counted. */
  constructor(list: string) {
    this.#list = list
  }

  /** Where the last byte stands. */
  get part(): ReplyPart {
    if (this.#begins !== 'as an object' || this.#isOpening || this.#depth === 0) {
      return 'outside'
    }
    return this.#place === 'in value' ? 'value' : 'between'
  }

  /** Of the value that is being read, or was read last. */
  get name(): unknown {
    return this.#name
  }

  /** Whether a whole JSON object has arrived. */
  get isComplete(): boolean {
    return this.#begins === 'as an object' && this.#depth === 0
  }

  /** The value of the last `usage`; undefined for none, or none that is JSON. */
  get usage(): unknown {
    return this.#usage
  }

  /** Objects that have begun in the list. */
  get entries(): number {
    return this.#entries
  }

  /** The next position that may matter: nearly all of a large reply is long strings or lists of numbers. */
  skip(bytes: Uint8Array, from: number): number {
    let at = from
    if (this.#captured !== undefined || this.#isEscaped) {
      return at
    }
    if (this.#isInString) {
      while (at < bytes.length && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) {
        at += 1
      }
    } else if (this.#depth > 1) {
      while (at < bytes.length && !IS_STRUCTURE[bytes[at] ?? 0]) {
        at += 1
      }
    }
    return at
  }

  /** Reads one byte. */
  step(byte: number): void {
    this.#isOpening = false
    if (this.#isInString) {
      this.#captured?.push(byte)
      if (this.#isEscaped) {
        this.#isEscaped = false
      } else if (byte === BACKSLASH) {
        this.#isEscaped = true
      } else if (byte === QUOTE) {
        this.#isInString = false
        this.#endString()
      }
    } else if (this.#begins === 'later') {
      this.#begin(byte)
    } else if (this.#depth === 0) {
      // Nothing after the object counts.
    } else if (this.#depth === 1) {
      this.#stepAtTop(byte)
    } else {
      this.#stepInside(byte)
    }
  }

  #begin(byte: number): void {
    if (!isBeforeJson(byte)) {
      this.#begins = byte === OPEN_BRACE ? 'as an object' : 'as something else'
      this.#depth = 1
      this.#isOpening = true
    }
  }

  /** Between the members of the object, and in values that are no object or list. */
  #stepAtTop(byte: number): void {
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || WHITESPACE.has(byte)) {
      this.#endValue()
      if (byte === COMMA) {
        this.#place = 'before name'
      }
      this.#depth -= byte === CLOSE_BRACE || byte === CLOSE_BRACKET ? 1 : 0
    } else if (byte === COLON && this.#place !== 'in value') {
      this.#place = 'before value'
    } else if (this.#place === 'before value') {
      this.#beginValue(byte)
    } else if (byte === QUOTE && this.#place === 'before name') {
      this.#place = 'in name'
      this.#captured = new CapturedJson()
      this.#captured.push(byte)
      this.#isInString = true
    } else {
      this.#stepInside(byte)
    }
  }

  #beginValue(byte: number): void {
    this.#place = 'in value'
    this.#captured = this.#name === 'usage' ? new CapturedJson() : undefined
    if (this.#name === this.#list) {
      this.#isInList = byte === OPEN_BRACKET
      this.#entries = 0
    }
    this.#stepInside(byte)
  }

  /** Inside of a value. */
  #stepInside(byte: number): void {
    this.#captured?.push(byte)
    if (byte === QUOTE) {
      this.#isInString = true
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#entries += this.#isInList && this.#depth === 2 && byte === OPEN_BRACE ? 1 : 0
      this.#depth += 1
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      this.#depth -= 1
    }
  }

  #endString(): void {
    if (this.#place === 'in name') {
      this.#name = this.#captured?.value()
      this.#captured = undefined
      this.#place = 'before value'
    }
  }

  #endValue(): void {
    if (this.#place === 'in value') {
      if (this.#name === 'usage') {
        this.#usage = this.#captured?.value()
        this.#captured = undefined
      }
      this.#place = 'before name'
      this.#isInList = false
    }
  }
}
