import { closingQuote } from './json-members.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** A walk over a text that is known to be valid JSON: nothing here looks for mistakes. Linear in the length of the text. */
export class JsonScan {
  readonly text: string
  index = 0

  constructor(text: string) {
    this.text = text
  }

  /** Whether an object or a list begins at the next character that is no whitespace. */
  nextKind(): 'object' | 'list' | 'other' {
    const code = this.#nextCode()
    return code === OPEN_BRACE ? 'object' : code === OPEN_BRACKET ? 'list' : 'other'
  }

  /** Whether the list or object ends here; then it is left. */
  isOver(): boolean {
    const code = this.#nextCode()
    const isOver = code === CLOSE_BRACE || code === CLOSE_BRACKET
    this.index += isOver ? 1 : 0
    return isOver
  }

  skipComma(): void {
    if (this.#nextCode() === COMMA) {
      this.index += 1
    }
  }

  /** Goes from the name of a field to its value. @returns the name, decoded. */
  readName(): string {
    this.#nextCode()
    const start = this.index
    this.#skipString()
    const quoted = this.text.slice(start, this.index)
    this.#nextCode()
    this.index += 1
    this.#nextCode()
    return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1)
  }

  /** Goes behind the value that begins here. */
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

  /** Goes to the next character that is no whitespace. */
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
    } while (depth > 0)
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
