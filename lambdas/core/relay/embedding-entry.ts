import type { EncodingFormat } from '../api/embedding-request.ts'
import type { FieldTree } from '../json/field-tree.ts'
import { COMMA, QUOTE } from '../json/json-marks.ts'
import { FieldRemoval } from '../json/remove-fields.ts'
import { byteEdit } from './byte-edits.ts'
import { decodeFloat32Base64, encodeFloat32Base64, isFloat32Base64 } from './float32-base64.ts'
import { endOfString, parseValue, readValue, UnexpectedJsonError, walkMembers } from './json-bytes.ts'
import { endOfNumbers } from './number-array.ts'
import { type Edit, editedPieces } from './reply-pieces.ts'

/** One element of `data`: its position, the input that it belongs to, and the edits that it needs. */
export type EmbeddingEntry = {
  readonly start: number
  readonly end: number
  readonly index: number
  readonly edits: readonly Edit[]
}

type Vector = { readonly start: number; readonly end: number; readonly format: EncodingFormat }

type Reading = {
  readonly position: number
  readonly encodingFormat: EncodingFormat
  /** Fields of the entry that no client sees. */
  readonly hidden: FieldTree | undefined
}

/**
 * Reads the entry that begins at `start`.
 * @param position of the entry in `data`: its index too, where an upstream leaves the index out.
 * @throws UnexpectedJsonError for anything but an object with one embedding.
 */
export function readEntry(
  bytes: Uint8Array,
  start: number,
  { position, encodingFormat, hidden }: Reading,
): EmbeddingEntry {
  const removal = new FieldRemoval(start + 1, (from) => bytes.indexOf(COMMA, from))
  let index: unknown
  let vector: Vector | undefined
  const end = walkMembers(bytes, start, (name, valueStart) => {
    if (name === 'embedding') {
      if (vector !== undefined) {
        throw new UnexpectedJsonError('an entry has two embeddings')
      }
      vector = vectorAt(bytes, valueStart)
      removal.keep(vector.end)
      return vector.end
    }
    const { value, end: valueEnd } = readValue(bytes, valueStart)
    index = name === 'index' ? value : index
    if (hidden?.get(name) === 'whole') {
      removal.remove(valueEnd)
    } else {
      removal.keep(valueEnd)
    }
    return valueEnd
  })
  if (vector === undefined) {
    throw new UnexpectedJsonError('an entry has no embedding')
  }
  const vectorEdits = vector.format === encodingFormat ? keptAsItIs(bytes, vector) : [converted(bytes, vector)]
  const edits = removal.edits.length === 0 ? vectorEdits : [...removal.edits.map(byteEdit), ...vectorEdits]
  if (index === undefined) {
    return { start, end, index: position, edits: [indexPutIn(start + 1, position), ...edits] }
  }
  if (typeof index !== 'number' || !Number.isInteger(index)) {
    throw new UnexpectedJsonError('the index of an entry is no whole number')
  }
  return { start, end, index, edits }
}

/** The bytes of an entry with its edits applied. */
export function entryPieces(bytes: Uint8Array, entry: EmbeddingEntry): Uint8Array[] {
  return editedPieces(bytes, entry, entry.edits)
}

function vectorAt(bytes: Uint8Array, start: number): Vector {
  return bytes[start] === QUOTE
    ? { start, end: endOfString(bytes, start), format: 'base64' }
    : { start, end: endOfNumbers(bytes, start), format: 'float' }
}

/** Numbers were checked while they were walked. A string is checked in place, because megabytes are relayed without a copy. */
function keptAsItIs(bytes: Uint8Array, { start, end, format }: Vector): readonly Edit[] {
  const isKept =
    format === 'float' ||
    isFloat32Base64(bytes.subarray(start + 1, end - 1)) ||
    // Some encoders of JSON write a slash, a digit of base64, with a backslash before it.
    decodeFloat32Base64(String(parseValue(bytes, start, end))) !== undefined
  if (!isKept) {
    throw new UnexpectedJsonError(NO_BASE64)
  }
  return []
}

/** Converts the vectors of an upstream that ignores `encoding_format`; nothing else of the entry changes. */
function converted(bytes: Uint8Array, { start, end, format }: Vector): Edit {
  const value = parseValue(bytes, start, end)
  return { start, end, replacement: format === 'float' ? base64Of(value) : numbersOf(value) }
}

const NO_BASE64 = 'an embedding is no base64 of float32'

const QUOTES = Uint8Array.of(QUOTE)

function base64Of(value: unknown): Uint8Array[] {
  if (!Array.isArray(value) || !value.every(isFloat32)) {
    throw new UnexpectedJsonError('an embedding is no list of float32')
  }
  return [QUOTES, encodeFloat32Base64(value), QUOTES]
}

/** A number beyond the range of a float32 would become infinity, which JSON does not have. */
function isFloat32(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(Math.fround(value))
}

/** Each float32 as the shortest decimal that equals it as a double. */
function numbersOf(value: unknown): Uint8Array[] {
  const numbers = decodeFloat32Base64(String(value))
  if (numbers === undefined || !numbers.every(Number.isFinite)) {
    throw new UnexpectedJsonError(NO_BASE64)
  }
  // A negative zero has a sign, which String() leaves out.
  const texts = numbers.map((number) => (Object.is(number, -0) ? '-0.0' : String(number)))
  return [new TextEncoder().encode(`[${texts.join(',')}]`)]
}

/** An entry has an embedding, so a comma always follows. */
function indexPutIn(at: number, index: number): Edit {
  return { start: at, end: at, replacement: [new TextEncoder().encode(`"index":${index},`)] }
}
