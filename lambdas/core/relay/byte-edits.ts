import type { FieldTree } from '../json/field-tree.ts'
import { type AdditionPlace, removalEdits } from '../json/remove-fields.ts'
import type { TextEdit } from '../json/text-edit.ts'
import type { Edit } from './reply-pieces.ts'

/** Reads one character for each byte; those above ASCII may become other characters. */
const decoder = new TextDecoder('latin1')

const encoder = new TextEncoder()

/** From `start` up to, not including, `end`. */
type ByteSpan = { readonly start: number; readonly end: number }

/** As `removalEdits`, for one object or list in bytes; the places count from the first byte. */
export function byteRemovalEdits(
  bytes: Uint8Array,
  { start, end }: ByteSpan,
  hidden: FieldTree,
): { readonly edits: readonly TextEdit[]; readonly additionPlace: AdditionPlace } {
  const { edits, additionPlace } = removalEdits(decoder.decode(bytes.subarray(start, end)), 0, hidden)
  return {
    edits: edits.map((edit) => ({ ...edit, start: edit.start + start, end: edit.end + start })),
    additionPlace: { ...additionPlace, index: additionPlace.index + start },
  }
}

/** An edit of bytes. */
export function byteEdit({ start, end, replacement }: TextEdit): Edit {
  return { start, end, replacement: replacement === '' ? [] : [encoder.encode(replacement)] }
}
