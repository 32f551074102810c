import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-marks.ts'

/**
 * A cursor over a JSON text. It does not check the text: malformed JSON yields meaningless positions, but every loop of the
 * form `while (!scan.isOver())` ends. Takes linear time. Text may hold one character per byte, because only ASCII matters.
 */
export class JsonScan {
  readonly text: string
  index = 0

  constructor(text: string) {
    this.text = text
  }

  /** Whether an object or a list begins at the next character that is not white space. */
  nextKind(): 'object' | 'list' | 'other' {
    const code = this.#nextCode()
    return code === OPEN_BRACE ? 'object' : code === OPEN_BRACKET ? 'list' : 'other'
  }

  /** Whether the current list or object ends here; if so, the cursor moves past the bracket. */
  isOver(): boolean {
    const code = this.#nextCode()
    const isClosing = code === CLOSE_BRACE || code === CLOSE_BRACKET
    this.index += isClosing ? 1 : 0
    return isClosing || this.isAtEnd
  }

  /** Whether no text is left. */
  get isAtEnd(): boolean {
    return this.index >= this.text.length
  }

  /** Moves past white space. */
  skipSpace(): void {
    this.#nextCode()
  }

  skipComma(): void {
    if (this.#nextCode() === COMMA) {
      this.index += 1
    }
  }

  /** Moves from the name of a field to its value. @returns the decoded name; a name that no parser could decode stays as it is. */
  readName(): string {
    this.#nextCode()
    const start = this.index
    this.#skipString()
    const quoted = this.text.slice(start, this.index)
    this.#nextCode()
    this.index += 1
    this.#nextCode()
    return quoted.includes('\\') ? decodedName(quoted) : quoted.slice(1, -1)
  }

  /** Moves past the value that begins here. */
  skipValue(): void {
    const code = this.#nextCode()
    if (code === QUOTE) {
      this.#skipString()
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      this.#skipNested()
    } else {
      this.#skipLiteral()
    }
  }

  /** Moves to the next character that is not white space. @returns NaN at the end of the text. */
  #nextCode(): number {
    let code = this.text.charCodeAt(this.index)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      this.index += 1
      code = this.text.charCodeAt(this.index)
    }
    return code
  }

  #skipString(): void {
    this.index = closingQuote(this.text, this.index) + 1
  }

  #skipNested(): void {
    let depth = 0
    do {
      const code = this.text.charCodeAt(this.index)
      if (code === QUOTE) {
        this.#skipString()
        continue
      }
      if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        depth += 1
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        depth -= 1
      }
      this.index += 1
    } while (depth > 0 && !this.isAtEnd)
  }

  /** A number, true, false or null. */
  #skipLiteral(): void {
    let code = this.text.charCodeAt(this.index)
    while (code > 0x20 && code !== COMMA && code !== CLOSE_BRACE && code !== CLOSE_BRACKET) {
      this.index += 1
      code = this.text.charCodeAt(this.index)
    }
  }
}

function decodedName(quoted: string): string {
  try {
    // biome-ignore lint/plugin: a string without names.
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}

/**
 * The index of the quote that ends the string that begins at `start`; the length of the text if there is none. A search for the
 * first quote makes long strings cheap. From an escaped quote on, it goes character by character, because a string may hold
 * millions of escapes.
 */
export function closingQuote(text: string, start: number): number {
  const first = text.indexOf('"', start + 1)
  if (first === -1) {
    return text.length
  }
  if (!isEscaped(text, first)) {
    return first
  }
  let index = first + 1
  while (index < text.length && text.charCodeAt(index) !== QUOTE) {
    index += text.charCodeAt(index) === BACKSLASH ? 2 : 1
  }
  return Math.min(index, text.length)
}

/** Follows the name of a field. */
const COLON = /[\t\n\r ]*:/y

/** Whether a colon comes next, so that the string that ends before `index` is the name of a field. */
export function isColonAt(text: string, index: number): boolean {
  COLON.lastIndex = index
  return COLON.test(text)
}

/** Whether an odd number of backslashes precedes the character; an even number are escaped backslashes. */
function isEscaped(text: string, index: number): boolean {
  let first = index
  while (text.charCodeAt(first - 1) === BACKSLASH) {
    first -= 1
  }
  return (index - first) % 2 === 1
}
