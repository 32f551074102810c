import { OPEN_BRACKET } from '../json/json-marks.ts'
import { UnexpectedJsonError } from './json-bytes.ts'

/** The state of a reader of the array before its next byte. */
const FIRST = 0
const NEXT = 1
const SIGN = 2
const ZERO = 3
const WHOLE = 4
const POINT = 5
const FRACTION = 6
const EXPONENT = 7
const EXPONENT_SIGN = 8
const EXPONENT_DIGITS = 9
const AFTER = 10
const CLOSED = 11
/** No array of numbers continues this way. */
const WRONG = 12

/** The bytes that may follow in each state (RFC 8259, sections 5 and 6), and the next state. */
const GRAMMAR: readonly (readonly [place: number, bytes: string, next: number])[] = [
  ...[FIRST, NEXT].flatMap(beforeNumber),
  [FIRST, ']', CLOSED],
  [SIGN, '0', ZERO],
  [SIGN, '123456789', WHOLE],
  [WHOLE, '0123456789', WHOLE],
  ...[ZERO, WHOLE].map((place) => [place, '.', POINT] as const),
  ...[POINT, FRACTION].map((place) => [place, '0123456789', FRACTION] as const),
  ...[ZERO, WHOLE, FRACTION].map((place) => [place, 'eE', EXPONENT] as const),
  [EXPONENT, '+-', EXPONENT_SIGN],
  ...[EXPONENT, EXPONENT_SIGN, EXPONENT_DIGITS].map((place) => [place, '0123456789', EXPONENT_DIGITS] as const),
  ...[ZERO, WHOLE, FRACTION, EXPONENT_DIGITS, AFTER].flatMap(afterNumber),
]

function beforeNumber(place: number) {
  return [
    [place, ' \t\n\r', place],
    [place, '-', SIGN],
    [place, '0', ZERO],
    [place, '123456789', WHOLE],
  ] as const
}

function afterNumber(place: number) {
  return [
    [place, ' \t\n\r', AFTER],
    [place, ',', NEXT],
    [place, ']', CLOSED],
  ] as const
}

/** The next state by state and byte: a table, because megabytes are walked, each byte once. */
const NEXT_PLACE = new Uint8Array((WRONG + 1) * 256).fill(WRONG)
for (const [place, bytes, next] of GRAMMAR) {
  for (const byte of new TextEncoder().encode(bytes)) {
    NEXT_PLACE[place * 256 + byte] = next
  }
}

const DIGIT_ZERO = 0x30
const DIGIT_NINE = 0x39

/** Place after the JSON array of numbers that begins at `start`. @throws UnexpectedJsonError for anything else. */
export function endOfNumbers(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== OPEN_BRACKET) {
    throw new UnexpectedJsonError('[ is missing')
  }
  let place = FIRST
  let at = start + 1
  while (place < CLOSED && at < bytes.length) {
    place = NEXT_PLACE[place * 256 + (bytes[at] ?? 0)] ?? WRONG
    at += 1
    if (place === FRACTION) {
      // Nearly all bytes are digits of a fraction, where one more changes nothing.
      at = endOfDigits(bytes, at)
    }
  }
  if (place !== CLOSED) {
    throw new UnexpectedJsonError('an embedding is no list of numbers')
  }
  return at
}

function endOfDigits(bytes: Uint8Array, start: number): number {
  let at = start
  for (let byte = bytes[at]; byte !== undefined && byte >= DIGIT_ZERO && byte <= DIGIT_NINE; byte = bytes[at]) {
    at += 1
  }
  return at
}
