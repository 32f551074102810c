/** A span of a reply and the bytes that replace it. An empty span is an insertion. */
export type Edit = { readonly start: number; readonly end: number; readonly replacement: readonly Uint8Array[] }

/**
 * A reply in pieces to be written one after the other. The unchanged pieces are views of the upstream's own bytes: a reply of
 * sixty megabytes is not copied for its model id.
 */
export type ReplyPieces = {
  readonly pieces: readonly Uint8Array[]
  /** Of all pieces together. */
  readonly byteLength: number
}

/** Applies edits that do not overlap, given in any order. */
export function applyEdits(bytes: Uint8Array, edits: readonly Edit[]): ReplyPieces {
  const pieces = editedPieces(bytes, { start: 0, end: bytes.length }, edits)
  return { pieces, byteLength: pieces.reduce((sum, piece) => sum + piece.length, 0) }
}

/** The pieces of one span, which contains all edits. */
export function editedPieces(
  bytes: Uint8Array,
  passage: { readonly start: number; readonly end: number },
  edits: readonly Edit[],
): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let keptFrom = passage.start
  for (const { start, end, replacement } of edits.toSorted((left, right) => left.start - right.start)) {
    pieces.push(bytes.subarray(keptFrom, start), ...replacement)
    keptFrom = end
  }
  pieces.push(bytes.subarray(keptFrom, passage.end))
  return pieces.filter((piece) => piece.length > 0)
}
