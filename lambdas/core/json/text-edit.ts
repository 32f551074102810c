/** A change of a text: a span, and what replaces it. An empty span is an insertion. */
export type TextEdit = { readonly start: number; readonly end: number; readonly replacement: string }

/** Applies edits that do not overlap, given in any order. */
export function applyTextEdits(text: string, edits: readonly TextEdit[]): string {
  if (edits.length === 0) {
    return text
  }
  const pieces: string[] = []
  let keptFrom = 0
  for (const { start, end, replacement } of inOrder(edits)) {
    pieces.push(text.slice(keptFrom, start), replacement)
    keptFrom = end
  }
  pieces.push(text.slice(keptFrom))
  return pieces.join('')
}

/** Edits in the order of the text. */
export function inOrder(edits: readonly TextEdit[]): readonly TextEdit[] {
  return edits.length > 1 ? edits.toSorted((left, right) => left.start - right.start) : edits
}
