import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  WHITESPACE,
} from '../json/json-marks.ts'
import { parseJsonText } from '../json/parse-json-text.ts'

/** Bytes that are not the expected JSON. The message holds none of them. */
export class UnexpectedJsonError extends Error {
  override readonly name = 'UnexpectedJsonError'
}

/** Keeps a byte order mark, which is not JSON and is refused. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Reads the value at an offset and returns where it ends. */
type Visit = (start: number) => number

/**
 * Walks the members of an object: for each one, `visit` gets its name and where its value starts, and returns where the
 * value ends. Large replies are walked once, as bytes, without a copy of what is only relayed.
 * @returns the place after the closing brace. @throws UnexpectedJsonError
 */
export function walkMembers(
  bytes: Uint8Array,
  start: number,
  visit: (name: string, valueStart: number) => number,
): number {
  expectByte(bytes, start, OPEN_BRACE)
  return walkList(bytes, start + 1, CLOSE_BRACE, (nameStart) => {
    const nameEnd = endOfString(bytes, nameStart)
    const colon = skipWhitespace(bytes, nameEnd)
    expectByte(bytes, colon, COLON)
    return visit(String(parseValue(bytes, nameStart, nameEnd)), skipWhitespace(bytes, colon + 1))
  })
}

/** Walks the elements of an array likewise. @returns the place after the closing bracket. @throws UnexpectedJsonError */
export function walkElements(bytes: Uint8Array, start: number, visit: Visit): number {
  expectByte(bytes, start, OPEN_BRACKET)
  return walkList(bytes, start + 1, CLOSE_BRACKET, visit)
}

function walkList(bytes: Uint8Array, start: number, close: number, visit: Visit): number {
  let at = skipWhitespace(bytes, start)
  if (bytes[at] === close) {
    return at + 1
  }
  for (;;) {
    at = skipWhitespace(bytes, visit(at))
    if (bytes[at] === close) {
      return at + 1
    }
    expectByte(bytes, at, COMMA)
    at = skipWhitespace(bytes, at + 1)
  }
}

/** Walks the top-level fields of a reply. @throws UnexpectedJsonError for anything but exactly one object. */
export function walkReply(bytes: Uint8Array, visit: (name: string, valueStart: number) => number): void {
  const end = walkMembers(bytes, skipWhitespace(bytes, 0), visit)
  if (skipWhitespace(bytes, end) !== bytes.length) {
    throw new UnexpectedJsonError('something follows the object')
  }
}

/** Place after the string that begins at `start`; its escapes are not checked. @throws UnexpectedJsonError */
export function endOfString(bytes: Uint8Array, start: number): number {
  expectByte(bytes, start, QUOTE)
  for (let from = start + 1; ; ) {
    const quote = bytes.indexOf(QUOTE, from)
    if (quote === -1) {
      throw new UnexpectedJsonError('a string does not end')
    }
    let backslashes = 0
    while (bytes[quote - 1 - backslashes] === BACKSLASH) {
      backslashes += 1
    }
    if (backslashes % 2 === 0) {
      return quote + 1
    }
    from = quote + 1
  }
}

/** Reads the value that begins at `start`. @throws UnexpectedJsonError when it is not valid JSON. */
export function readValue(bytes: Uint8Array, start: number): { readonly value: unknown; readonly end: number } {
  const end = endOfValue(bytes, start)
  return { value: parseValue(bytes, start, end), end }
}

/** The value from `start` up to, not including, `end`. @throws UnexpectedJsonError when it is not valid JSON. */
export function parseValue(bytes: Uint8Array, start: number, end: number): unknown {
  try {
    return parseJsonText(decoder.decode(bytes.subarray(start, end)))
  } catch {
    throw new UnexpectedJsonError('a value is not valid JSON')
  }
}

/** Where the value ends, if it is valid. Counts depth instead of recursing. */
function endOfValue(bytes: Uint8Array, start: number): number {
  let depth = 0
  for (let at = start; at < bytes.length; ) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = endOfString(bytes, at)
    } else if (depth === 0 && isDelimiter(byte)) {
      return at
    } else {
      depth += byte === OPEN_BRACE || byte === OPEN_BRACKET ? 1 : 0
      depth -= byte === CLOSE_BRACE || byte === CLOSE_BRACKET ? 1 : 0
      at += 1
    }
  }
  throw new UnexpectedJsonError('a value does not end')
}

function isDelimiter(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || WHITESPACE.has(byte)
}

function skipWhitespace(bytes: Uint8Array, start: number): number {
  let at = start
  while (WHITESPACE.has(bytes[at])) {
    at += 1
  }
  return at
}

function expectByte(bytes: Uint8Array, at: number, byte: number): void {
  if (bytes[at] !== byte) {
    throw new UnexpectedJsonError(`${String.fromCharCode(byte)} is missing`)
  }
}
