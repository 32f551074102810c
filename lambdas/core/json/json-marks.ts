/** As a byte of JSON. */
export const QUOTE = 0x22
/** As a byte of JSON. */
export const COMMA = 0x2c
/** As a byte of JSON. */
export const COLON = 0x3a
/** As a byte of JSON. */
export const BACKSLASH = 0x5c
/** As a byte of JSON. */
export const OPEN_BRACKET = 0x5b
/** As a byte of JSON. */
export const CLOSE_BRACKET = 0x5d
/** As a byte of JSON. */
export const OPEN_BRACE = 0x7b
/** As a byte of JSON. */
export const CLOSE_BRACE = 0x7d

/** Space, tab, line feed and carriage return, the four that JSON knows. */
export const WHITESPACE: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** The three bytes of a byte order mark, with which some upstreams begin a reply. */
const BYTE_ORDER_MARK: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf])

/** By byte: whether it begins a string, or begins or ends an object or a list. */
export const IS_STRUCTURE = Array.from({ length: 256 }, (_, byte) =>
  [QUOTE, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET].includes(byte),
)

/** Whether a byte may come before a reply. */
export function isBeforeJson(byte: number): boolean {
  return WHITESPACE.has(byte) || BYTE_ORDER_MARK.has(byte)
}

/** Whether bytes begin as a JSON object does. */
export function beginsAsObject(chunks: readonly Uint8Array[]): boolean {
  const first = chunks.map((chunk) => chunk.find((byte) => !isBeforeJson(byte))).find((byte) => byte !== undefined)
  return first === OPEN_BRACE
}
