/** What a step of a {@link JsonScanner} has found. */
export type Token = typeof MORE | typeof NAME | typeof SCALAR | typeof OPEN | typeof CLOSE

/** The text that has come is read; a token may have begun in it. */
export const MORE = 0
/** The name of a field. */
export const NAME = 1
/** A string, a number, `true`, `false` or `null`. */
export const SCALAR = 2
/** An object or a list begins. */
export const OPEN = 3
/** The innermost object or list ends. */
export const CLOSE = 4

export const QUOTE = 0x22
export const OPEN_BRACE = 0x7b
export const OPEN_BRACKET = 0x5b
const COMMA = 0x2c
const COLON = 0x3a
const MINUS = 0x2d
const BACKSLASH = 0x5c
export const CLOSE_BRACE = 0x7d
const CLOSE_BRACKET = 0x5d

/** What may come next. */
const BEFORE_NAME = 0
const AFTER_NAME = 1
const BEFORE_VALUE = 2
const AFTER_VALUE = 3

/** The token that has begun. */
const NOTHING = 0
const IN_STRING = 1
const IN_NUMBER = 2
const IN_WORD = 3

/** Of an escape in a string: none, after its backslash, and hexadecimal digits that are missing (1 to 4). */
const PLAIN = 0
const ESCAPING = 5
const SHORT_ESCAPES = '"\\/bfnrt'

/** Places in a number (RFC 8259, section 6): after its sign, a leading zero, other digits, the point, its digits, and the exponent. */
const SIGN = 0
const ZERO = 1
const WHOLE = 2
const POINT = 3
const FRACTION = 4
const EXPONENT = 5
const EXPONENT_SIGN = 6
const EXPONENT_DIGITS = 7
const WRONG = 8

/** The next place after a digit, by place. */
const AFTER_DIGIT = [
  WHOLE,
  WRONG,
  WHOLE,
  FRACTION,
  FRACTION,
  EXPONENT_DIGITS,
  EXPONENT_DIGITS,
  EXPONENT_DIGITS,
  WRONG,
] as const

function nextPlace(place: number, code: number): number {
  if (code >= 0x30 && code <= 0x39) {
    return place === SIGN && code === 0x30 ? ZERO : (AFTER_DIGIT[place] ?? WRONG)
  }
  const isWhole = place === ZERO || place === WHOLE
  if (code === 0x2e) {
    return isWhole ? POINT : WRONG
  }
  if ((code | 0x20) === 0x65) {
    return isWhole || place === FRACTION ? EXPONENT : WRONG
  }
  return place === EXPONENT && (code === 0x2b || code === MINUS) ? EXPONENT_SIGN : WRONG
}

/** A number may end after these places. */
const ENDS_NUMBER = [ZERO, WHOLE, FRACTION, EXPONENT_DIGITS]

/**
 * The one reader of JSON that the gateway passes on or changes: it gives tokens with their places, and builds no values. The text is
 * decoded, or has one character for each byte, because only ASCII matters. {@link PieceScanner} reads a text that is cut anywhere.
 *
 * It goes on through text that is not JSON, where its tokens mean little, and says so in `isValid`. Linear time, no recursion.
 */
export class JsonScanner {
  /** Objects and lists that are open. */
  depth = 0
  /** Whether all text so far is JSON, or the beginning of it. */
  isValid = true
  /** Whether the value has ended. */
  isOver = false
  /** The last token, counted from the first character of all. */
  start = 0
  end = 0
  /** The first character of the last token. */
  code = 0
  /** The place after the comma, or after the opening bracket, that comes before the last token. */
  fieldStart = 0
  /** Whether the last string, which may be a name, has an escape. */
  hasEscape = false
  /** After {@link CLOSE}: whether the object or list has nothing in it. */
  isEmpty = false
  /** Whether everything that {@link skip} has skipped last is numbers. */
  isNumbers = false
  protected piece: string
  /** Characters in all pieces before this one. */
  protected base = 0
  /** In the piece. */
  protected at = 0
  #place = BEFORE_VALUE
  /** Whether nothing has come since the innermost bracket opened. */
  #isFirst = false
  /** Of the open objects and lists, whether each is an object. */
  readonly #isObject: boolean[] = []
  protected inside = NOTHING
  #isName = false
  #escape = PLAIN
  #number = SIGN
  #skippedDepth = 0

  constructor(text: string) {
    this.piece = text
  }

  next(): Token {
    for (;;) {
      const token = this.inside === NOTHING ? this.#step() : this.#goOn()
      if (token === MORE || this.#skippedDepth === 0) {
        return token
      }
      if (this.depth < this.#skippedDepth) {
        this.#skippedDepth = 0
        return token
      }
      if (token !== SCALAR || this.code === QUOTE || this.code > 0x39) {
        this.isNumbers = false
      }
    }
  }

  /** After {@link OPEN}: the next token is the end of this object or list. */
  skip(): void {
    this.#skippedDepth = this.depth
    this.isNumbers = this.code === OPEN_BRACKET
  }

  /** The last token as it is written. */
  get text(): string | undefined {
    return this.piece.slice(this.start - this.base, this.end - this.base)
  }

  /** After {@link NAME}: the decoded name. One that no parser could decode stays as it is. */
  get name(): string {
    const quoted = this.text ?? '""'
    return this.hasEscape ? decodedName(quoted) : quoted.slice(1, -1)
  }

  /** Reads up to the end of the next token, or of the piece. */
  #step(): Token {
    const text = this.piece
    let at = this.at
    for (;;) {
      const code = text.charCodeAt(at)
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
        at += 1
        continue
      }
      this.at = at
      if (at >= text.length) {
        return MORE
      }
      if (this.isOver) {
        this.isValid = false
        this.at = text.length
        return MORE
      }
      if (code === COMMA || code === COLON) {
        this.#separate(code)
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        if (this.depth > 0) {
          return this.#close(code)
        }
        this.isValid = false
      } else if (!this.isMark(code)) {
        return this.#begin(code)
      }
      at += 1
    }
  }

  #separate(code: number): void {
    if (code === COLON) {
      this.isValid &&= this.#place === AFTER_NAME
      this.#place = this.#place === AFTER_NAME ? BEFORE_VALUE : this.#place
      return
    }
    this.isValid &&= this.#place === AFTER_VALUE && this.depth > 0
    this.#place = this.#isObject[this.depth - 1] === true ? BEFORE_NAME : BEFORE_VALUE
    this.#isFirst = false
    this.fieldStart = this.base + this.at + 1
  }

  #close(code: number): Token {
    const isObject = this.#isObject.pop() === true
    this.isEmpty = this.#isFirst && this.#place !== AFTER_VALUE && this.#place !== AFTER_NAME
    this.isValid &&= isObject === (code === CLOSE_BRACE) && (this.isEmpty || this.#place === AFTER_VALUE)
    this.#setToken(code)
    this.at += 1
    this.depth -= 1
    this.end = this.start + 1
    this.#endValue()
    return CLOSE
  }

  #begin(code: number): Token {
    this.#setToken(code)
    const isAfter = this.#place === AFTER_VALUE
    const isInObject = this.#isObject[this.depth - 1] === true
    this.#isName = code === QUOTE && isInObject && (isAfter || this.#place === BEFORE_NAME)
    this.isValid &&= !isAfter && (this.#isName || this.#place === BEFORE_VALUE)
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      this.#isObject.push(code === OPEN_BRACE)
      this.#place = code === OPEN_BRACE ? BEFORE_NAME : BEFORE_VALUE
      this.#isFirst = true
      this.depth += 1
      this.at += 1
      this.end = this.start + 1
      this.fieldStart = this.end
      return OPEN
    }
    this.hasEscape = false
    this.#number = SIGN
    const isDigit = code >= 0x30 && code <= 0x39
    this.inside = code === QUOTE ? IN_STRING : isDigit || code === MINUS ? IN_NUMBER : IN_WORD
    this.at += isDigit ? 0 : 1
    return this.#goOn()
  }

  #setToken(code: number): void {
    this.code = code
    this.start = this.base + this.at
  }

  /** @returns {@link MORE} at the end of a piece: the token may go on. */
  #goOn(): Token {
    const isWhole = this.inside === IN_STRING ? this.#string() : this.#literal()
    if (!isWhole) {
      return MORE
    }
    this.end = this.base + this.at
    if (this.inside === IN_WORD) {
      const word = this.text
      this.isValid &&= word === 'null' || word === 'true' || word === 'false'
    }
    this.inside = NOTHING
    if (this.#isName) {
      this.#place = AFTER_NAME
      this.#isName = false
      this.#isFirst = false
      return NAME
    }
    this.#endValue()
    return SCALAR
  }

  #string(): boolean {
    const text = this.piece
    const { length } = text
    let at = this.at
    let missing: number = this.#escape
    while (at < length) {
      const code = text.charCodeAt(at)
      at += 1
      if (missing !== PLAIN) {
        missing = this.#readEscape(code, missing)
      } else if (code === QUOTE) {
        this.at = at
        this.#escape = PLAIN
        return true
      } else if (code === BACKSLASH) {
        this.hasEscape = true
        missing = ESCAPING
      } else if (code < 0x20) {
        this.isValid = false
      }
    }
    this.#escape = missing
    this.at = at
    return false
  }

  /** @returns what is missing of the escape after this character. */
  #readEscape(code: number, missing: number): number {
    if (missing !== ESCAPING) {
      const isDigit = (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66)
      this.isValid &&= isDigit
      // A quote ends what is no escape.
      return isDigit ? missing - 1 : PLAIN
    }
    if (code === 0x75) {
      return 4
    }
    this.isValid &&= SHORT_ESCAPES.includes(String.fromCharCode(code))
    return PLAIN
  }

  /** A number or a word: everything up to white space, a comma or a closing bracket. */
  #literal(): boolean {
    const text = this.piece
    let at = this.at
    let place = this.#number
    let code = text.charCodeAt(at)
    while (code > 0x20 && code !== COMMA && code !== CLOSE_BRACE && code !== CLOSE_BRACKET) {
      place = nextPlace(place, code)
      at += 1
      code = text.charCodeAt(at)
    }
    this.#number = place
    this.at = at
    if (at >= text.length) {
      return false
    }
    if (this.inside === IN_NUMBER && !ENDS_NUMBER.includes(place)) {
      this.isValid = false
    }
    return true
  }

  /** Whether the character is a part of a byte order mark, which only replies may have. */
  protected isMark(_code: number): boolean {
    return false
  }

  #endValue(): void {
    this.#place = AFTER_VALUE
    this.isOver = this.depth === 0
  }
}

/** A token that is cut by the end of a piece is kept up to this length. */
const KEPT_MAX = 1024 * 1024

/** UTF-8 of the byte order mark. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** As {@link JsonScanner}, for a reply that comes in pieces. */
export class PieceScanner extends JsonScanner {
  /** The part of the token that stands in earlier pieces; undefined if that is too long. */
  #kept: string | undefined = ''
  /** Characters of a byte order mark before the value. */
  markLength = 0
  #captureFrom = -1
  #captureMax = 0
  #captured: string | undefined = ''

  constructor() {
    super('')
  }

  /** Gives it the next piece, when {@link next} has said {@link MORE}. */
  push(text: string): void {
    if (this.#captureFrom >= 0) {
      this.#captured = this.#joined(this.#captured, this.#captureFrom, this.#captureMax)
    }
    if (this.inside !== NOTHING) {
      this.#kept = this.#joined(this.start < this.base ? this.#kept : '', this.start, KEPT_MAX)
    }
    this.base += this.piece.length
    this.piece = text
    this.at = 0
  }

  /** Characters that were given to it. */
  get length(): number {
    return this.base + this.piece.length
  }

  /** Whether a name, a string, a number or a word has begun whose end has not come. */
  get isInToken(): boolean {
    return this.inside !== NOTHING
  }

  /** Undefined for a token that is cut and long. */
  override get text(): string | undefined {
    const { start, end, base, piece } = this
    if (start >= base) {
      return piece.slice(start - base, end - base)
    }
    return this.#kept === undefined ? undefined : this.#kept + piece.slice(0, end - base)
  }

  protected override isMark(code: number): boolean {
    const at = this.base + this.at
    const isMark = at === this.markLength && (code === 0xfeff ? at === 0 : at < 3 && code === BYTE_ORDER_MARK[at])
    this.markLength += isMark ? 1 : 0
    return isMark
  }

  /** Keeps the text from the beginning of the last token on, up to a length. */
  capture(lengthMax: number): void {
    this.#captureFrom = this.start
    this.#captureMax = lengthMax
    this.#captured = this.start < this.base ? this.#kept : ''
  }

  /** Ends a {@link capture}. @returns the text up to the end of the last token; undefined for a longer one. */
  endCapture(): string | undefined {
    const from = Math.max(0, this.#captureFrom - this.base)
    const rest = this.piece.slice(from, this.end - this.base)
    const captured = this.#captured
    const isLong = captured === undefined || captured.length + rest.length > this.#captureMax
    this.#captureFrom = -1
    return isLong ? undefined : captured + rest
  }

  #joined(before: string | undefined, from: number, lengthMax: number): string | undefined {
    const start = Math.max(0, from - this.base)
    const length = this.piece.length - start + (before?.length ?? 0)
    return before === undefined || length > lengthMax ? undefined : before + this.piece.slice(start)
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

/** Limits of a JSON text, so that parsing it does not block a process for long. */
export type JsonBounds = {
  /** Levels of nested objects and arrays. */
  readonly depthMax: number
  /** Top-level fields. */
  readonly fieldsMax: number
  /** Strings (names of fields included), objects and arrays together. */
  readonly elementsMax: number
  /** Numbers, `true`, `false` and `null` together, which cost less. */
  readonly numbersMax: number
}

/** Tokens that are read in one step. */
const STEP_TOKENS = 20_000

/** The first bound that a JSON text exceeds; undefined if there is none, and for what is not JSON, which the parser reports. */
export function exceededBound(text: string, bounds: JsonBounds): keyof JsonBounds | undefined {
  const steps = findExceededBound(text, bounds)
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) {
      return step.value
    }
  }
}

/** As {@link exceededBound}, in steps, between which others may have their turn. */
export function* findExceededBound(
  text: string,
  bounds: JsonBounds,
): Generator<undefined, keyof JsonBounds | undefined> {
  const scanner = new JsonScanner(text)
  const { depthMax, fieldsMax, elementsMax, numbersMax } = bounds
  let [fields, elements, numbers, closed] = [0, 0, 0, 0]
  for (let token = scanner.next(); token !== MORE && scanner.isValid; token = scanner.next()) {
    if (token === CLOSE) {
      closed += 1
    } else if (token === SCALAR && scanner.code !== QUOTE) {
      numbers += 1
      if (numbers > numbersMax) {
        return 'numbersMax'
      }
    } else {
      elements += 1
      fields += token === NAME && scanner.depth === 1 ? 1 : 0
      if (scanner.depth > depthMax) {
        return 'depthMax'
      }
      if (fields > fieldsMax) {
        return 'fieldsMax'
      }
      if (elements > elementsMax) {
        return 'elementsMax'
      }
    }
    if ((numbers + elements + closed) % STEP_TOKENS === 0) {
      yield
    }
  }
  return undefined
}
