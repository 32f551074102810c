/** The alphabet of standard base64 (RFC 4648, section 4). */
const ALPHABET = new TextEncoder().encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const PADDING = 0x3d
const PADDING_MAX = 2
const NOT_A_DIGIT = 255

const DIGITS = new Uint8Array(256).fill(NOT_A_DIGIT)
for (const [digit, byte] of ALPHABET.entries()) {
  DIGITS[byte] = digit
}

/** Bytes of one float32. */
const FLOAT_BYTES = 4

/**
 * Packs numbers as little-endian float32, each rounded as `Math.fround` does, and writes them in base64: what SDKs read
 * for `encoding_format: base64`.
 * @returns ASCII bytes.
 */
export function encodeFloat32Base64(numbers: readonly number[]): Uint8Array {
  const packed = new DataView(new ArrayBuffer(numbers.length * FLOAT_BYTES))
  for (const [index, number] of numbers.entries()) {
    packed.setFloat32(index * FLOAT_BYTES, number, true)
  }
  return encodeBase64(new Uint8Array(packed.buffer))
}

/**
 * Reads such a string back.
 * @returns undefined for a string that is not base64, or not a whole number of float32.
 */
export function decodeFloat32Base64(text: string): number[] | undefined {
  const bytes = decodeBase64(text)
  if (bytes === undefined || bytes.length % FLOAT_BYTES !== 0) {
    return undefined
  }
  const packed = new DataView(bytes.buffer)
  return Array.from({ length: bytes.length / FLOAT_BYTES }, (_, index) => packed.getFloat32(index * FLOAT_BYTES, true))
}

/** Whether {@link decodeFloat32Base64} would read these ASCII bytes; nothing is decoded. */
export function isFloat32Base64(text: Uint8Array): boolean {
  let length = text.length
  for (let padding = 0; padding < PADDING_MAX && text[length - 1] === PADDING; padding += 1) {
    length -= 1
  }
  if (length % 4 === 1 || byteLength(length) % FLOAT_BYTES !== 0) {
    return false
  }
  for (let at = 0; at < length; at += 1) {
    if (DIGITS[text[at] ?? 0] === NOT_A_DIGIT) {
      return false
    }
  }
  return true
}

/** Of so many digits without their padding. */
function byteLength(digits: number): number {
  return Math.floor((digits * 3) / 4)
}

function encodeBase64(bytes: Uint8Array): Uint8Array {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(PADDING)
  for (let from = 0, to = 0; from < bytes.length; from += 3, to += 4) {
    const given = Math.min(3, bytes.length - from)
    const triple = ((bytes[from] ?? 0) << 16) | ((bytes[from + 1] ?? 0) << 8) | (bytes[from + 2] ?? 0)
    for (let digit = 0; digit <= given; digit += 1) {
      text[to + digit] = ALPHABET[(triple >> (18 - 6 * digit)) & 63] ?? PADDING
    }
  }
  return text
}

/** Padding may be left out. Undefined for any other sign, and for a length that no bytes have. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = text.replace(/={1,2}$/, '')
  if (digits.length % 4 === 1) {
    return undefined
  }
  const bytes = new Uint8Array(byteLength(digits.length))
  let bits = 0
  for (let index = 0, to = 0; index < digits.length; index += 1) {
    const digit = DIGITS[digits.charCodeAt(index)] ?? NOT_A_DIGIT
    if (digit === NOT_A_DIGIT) {
      return undefined
    }
    // Of the bits before these, the lowest six are all that a byte can still need.
    bits = ((bits & 63) << 6) | digit
    const spare = 6 - 2 * (index % 4)
    if (spare < 6) {
      bytes[to] = bits >> spare
      to += 1
    }
  }
  return bytes
}
