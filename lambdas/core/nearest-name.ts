/** More changed letters than this make another word, not a typing error. */
const CHANGES_MAX = 3

/** The name that was probably meant; undefined if no name is close. */
export function nearestName(typed: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let fewest = Math.min(CHANGES_MAX, Math.ceil(typed.length / 3)) + 1
  for (const name of names) {
    // At least so many letters are inserted or removed; a client may type a megabyte.
    const isFar = Math.abs(typed.length - name.length) >= fewest
    const changes = isFar ? fewest : editDistance(typed.toLowerCase(), name.toLowerCase())
    if (changes < fewest) {
      nearest = name
      fewest = changes
    }
  }
  return nearest
}

/** The same as the end of a sentence. */
export function meant(typed: string, names: Iterable<string>): string {
  const nearest = nearestName(typed, names)
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}

/** The number of letters to insert, remove or replace (Levenshtein distance). */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...left].entries()) {
    const current = [row + 1]
    for (const [column, other] of [...right].entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1)
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    previous = current
  }
  return previous.at(-1) ?? 0
}
