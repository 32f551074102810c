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
import { parseJsonText } from '../json/parse-json-text.ts'
import { CapturedJson } from './captured-json.ts'

/**
 * Where a byte of a reply stands: before or after the object and its braces, between two values of it, in a value, or in an object or list
 * inside of a value whose name is watched for.
 */
export type ReplyPart = 'outside' | 'between' | 'value' | 'watched'

/** Longer than any name that is watched for, with all of its letters escaped. */
const WATCHED_BYTES_MAX = 128

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
  readonly #isWatched: (name: string) => boolean
  /** Inside of a top-level value: the string that is being read or was read last, while it may be a name that is watched for. */
  #word: number[] | undefined
  #wordIs: 'being read' | 'read' | 'a watched name' | undefined
  #watchedName = ''
  /** The depth around the watched value that is being read. */
  #watchedDepth: number | undefined
  #isWatchedOver = false

  /**
   * @param list name of the top-level list whose entries are counted.
   * @param isWatched names of fields anywhere inside of the top-level values, whose objects and lists are parts of their own.
   */
  constructor(list: string, isWatched: (name: string) => boolean = () => false) {
    this.#list = list
    this.#isWatched = isWatched
  }

  /** Where the last byte stands. */
  get part(): ReplyPart {
    if (this.#begins !== 'as an object' || this.#isOpening || this.#depth === 0) {
      return 'outside'
    }
    if (this.#place !== 'in value') {
      return 'between'
    }
    return this.#watchedDepth === undefined ? 'value' : 'watched'
  }

  /** Of the watched value that is being read, or was read last. */
  get watchedName(): string {
    return this.#watchedName
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
    if (this.#captured !== undefined || this.#isEscaped || this.#wordIs !== undefined || this.#isWatchedOver) {
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
    if (this.#isWatchedOver) {
      this.#isWatchedOver = false
      this.#watchedDepth = undefined
    }
    if (this.#isInString) {
      this.#captured?.push(byte)
      this.#keepWord(byte)
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

  #keepWord(byte: number): void {
    if (this.#wordIs === 'being read' && (this.#word?.push(byte) ?? 0) > WATCHED_BYTES_MAX) {
      this.#wordIs = undefined
    }
  }

  /** After a string inside of a value: a colon makes it the name of what follows. */
  #readAfterWord(byte: number): void {
    if (WHITESPACE.has(byte)) {
      return
    }
    if (this.#wordIs === 'a watched name' && (byte === OPEN_BRACE || byte === OPEN_BRACKET)) {
      this.#watchedDepth = this.#depth
    }
    const name = this.#wordIs === 'read' && byte === COLON ? nameOf(this.#word ?? []) : undefined
    this.#wordIs = undefined
    if (name !== undefined && this.#isWatched(name)) {
      this.#watchedName = name
      this.#wordIs = 'a watched name'
    }
  }

  /** Inside of a value. */
  #stepInside(byte: number): void {
    this.#captured?.push(byte)
    if (this.#wordIs !== undefined) {
      this.#readAfterWord(byte)
    }
    if (byte === QUOTE) {
      this.#isInString = true
      if (this.#depth > 1 && this.#watchedDepth === undefined) {
        this.#word = [byte]
        this.#wordIs = 'being read'
      }
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#entries += this.#isInList && this.#depth === 2 && byte === OPEN_BRACE ? 1 : 0
      this.#depth += 1
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      this.#depth -= 1
      this.#isWatchedOver = this.#depth === this.#watchedDepth
    }
  }

  #endString(): void {
    this.#wordIs = this.#wordIs === 'being read' ? 'read' : undefined
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

/** Undefined for bytes that are no JSON string. */
function nameOf(bytes: readonly number[]): string | undefined {
  try {
    return String(parseJsonText(new TextDecoder().decode(Uint8Array.from(bytes))))
  } catch {
    return undefined
  }
}
