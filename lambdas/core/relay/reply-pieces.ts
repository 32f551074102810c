/** A passage of an answer, and the bytes that go out in its place. An empty passage is a place where they are put in. */
export type Edit = { readonly start: number; readonly end: number; readonly replacement: readonly Uint8Array[] }

/**
 * An answer in pieces to be written one after the other. What was not changed is a view of the upstream's own bytes:
 * an answer of sixty megabytes is not copied to have a model id put in.
 */
export type ReplyPieces = {
  readonly pieces: readonly Uint8Array[]
  /** Of all pieces together. */
  readonly byteLength: number
}

/** Applies edits that do not overlap, in whatever order they are given. */
export function applyEdits(bytes: Uint8Array, edits: readonly Edit[]): ReplyPieces {
  const pieces = editedPieces(bytes, { start: 0, end: bytes.length }, edits)
  return { pieces, byteLength: pieces.reduce((sum, piece) => sum + piece.length, 0) }
}

/** The pieces of one passage; all edits lie in it. */
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
